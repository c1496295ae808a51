package notes

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to document-reference-status (FHIR R4, DocumentReference.status).
const statuses terms.Table = `
nullified entered-in-error
obsolete superseded
`

// docStatuses maps ActStatus to composition-status. An unfinished note is preliminary (C-CDA on FHIR, "Notes":
// statusCode).
const docStatuses terms.Table = `
completed final
active preliminary
new preliminary
held preliminary
suspended preliminary
nullified entered-in-error
`
