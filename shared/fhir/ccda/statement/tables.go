package statement

import "recordbridge/shared/fhir/ccda/terms"

// consentStates maps ActStatus to consent-state-codes (FHIR R4, Consent.status).
const consentStates terms.Table = `
completed active
active active
new proposed
held proposed
aborted inactive
cancelled inactive
canceled inactive
suspended inactive
obsolete inactive
nullified entered-in-error
`

// concernStatuses maps ActStatus of a concern to condition-clinical (C-CDA on FHIR, ConceptMap
// CF-ConditionClinicalStatus), with the statuses of ActStatus that it does not have.
const concernStatuses terms.Table = `
active active
completed inactive
aborted inactive
suspended inactive
cancelled inactive
canceled inactive
held inactive
obsolete inactive
`
