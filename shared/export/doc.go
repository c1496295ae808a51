// Package export implements the bulk export of a patient's record. It defines the export task with its states, options,
// outcome and failure reasons. The package also implements request registration, stored objects, download links and
// early deletion.
//
// The package imports words, fhir, catalog, webhook, connect and platform/due. Package export does not depend on AWS or
// HTTP. The subpackages, in the order of a run (docs/develop/lifecycles.md, "Following an export"):
//
// - worker claims a task, holds its lease and records its result.
// - share limits how many exports of a tenant run at once.
// - collect performs a single run.
// - source sends the run's requests to one server.
// - checkpoint holds the progress of a run and the outcome of each resource type.
// - known stores facts that exports have learned about a server.
// - format converts segments to other formats.
// - manifest lists and signs an export's files.
package export
