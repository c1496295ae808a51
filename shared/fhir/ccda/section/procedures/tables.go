package procedures

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to event-status (C-CDA on FHIR, ConceptMap CF-ProcedureStatus).
const statuses terms.Table = `
completed completed
active in-progress
aborted stopped
cancelled not-done
canceled not-done
new preparation
held on-hold
suspended on-hold
nullified entered-in-error
obsolete entered-in-error
`
