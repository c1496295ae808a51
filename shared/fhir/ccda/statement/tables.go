package statement

import "recordbridge/shared/fhir/ccda/terms"

// consentStates maps ActStatus to consent-state-codes (FHIR R4, Consent.status).
const consentStates terms.Table = `
new proposed
held proposed
aborted inactive
cancelled inactive
canceled inactive
suspended inactive
obsolete inactive
nullified entered-in-error
`
