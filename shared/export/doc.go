// Package export owns the bulk export of one patient's record: the task with its states, options, outcome and failure
// reasons, the registration of requests, its objects, the download links and the early deletion.
//
// The package imports words, fhir, catalog, webhook and connect, and from platform due. It depends on neither AWS nor
// HTTP. Its subpackages, in the order of a run (docs/develop/lifecycles.md, "Following an export"):
//
//   - worker claims a task, holds its lease and records its result.
//   - share limits how many exports of a tenant run at once.
//   - collect carries out one run.
//   - source sends the requests of a run to one server.
//   - checkpoint holds a run's progress and account.
//   - known keeps what exports have learned about a server.
//   - format turns segments into the other formats.
package export
