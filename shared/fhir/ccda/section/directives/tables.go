package directives

import "recordbridge/shared/fhir/ccda/terms"

// verifiers has the display of the participations in an advance directive (terminology.hl7.org, v3-ParticipationType).
const verifiers terms.Table = `
VRF verifier
CST custodian
`
