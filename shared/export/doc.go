// Package export implements the bulk export of one patient's record. It defines the task with its states, options,
// outcome and failure reasons, and implements the registration of requests, the stored objects, the download links and
// early deletion.
//
// The package imports words, fhir, catalog, webhook and connect, and the package due from platform. It depends on
// neither AWS nor HTTP. The subpackages, in the order of a run (docs/develop/lifecycles.md, "Following an export"):
//
// - worker claims a task, holds the task's lease and records its result.
// - share limits how many of a tenant's exports run at once.
// - collect carries out one run.
// - source sends a run's requests to one server.
// - checkpoint holds a run's progress and the outcome of each resource type.
// - known stores facts that exports have learned about a server.
// - format converts segments to the other formats.
package export
