package directives

import "recordbridge/shared/fhir/ccda/terms"

// verifiers maps participation types in an advance directive to their display (terminology.hl7.org,
// v3-ParticipationType).
const verifiers terms.Table = `
VRF verifier
CST custodian
`
