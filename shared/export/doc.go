// Package export implements the bulk export of one patient's record: the task with its states, options, outcome and
// failure reasons, the registration of requests, the stored objects, the download links and early deletion.
//
// The package imports words, fhir, catalog, webhook and connect, and from platform due. It depends on neither AWS nor
// HTTP. Its subpackages, in the order of a run (docs/develop/lifecycles.md, "Following an export"):
//
// - worker claims a task, holds its lease and records its result.
// - share limits how many exports of a tenant run at once.
// - collect carries out one run.
// - source sends a run's requests to one server.
// - checkpoint holds a run's progress and the outcome of each resource type.
// - known stores facts that exports have learned about a server.
// - format converts segments to the other formats.
package export
