package encounter

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to encounter-status (C-CDA on FHIR, ConceptMap CF-EncounterStatus).
const statuses terms.Table = `
completed finished
active in-progress
aborted unknown
cancelled cancelled
canceled cancelled
held planned
new unknown
suspended onleave
nullified entered-in-error
`

// classes maps each ActEncounterCode code to its display (terminology.hl7.org, v3-ActCode).
const classes terms.Table = `
AMB ambulatory
EMER emergency
FLD field
HH home health
IMP inpatient encounter
ACUTE inpatient acute
NONAC inpatient non-acute
OBSENC observation encounter
PRENC pre-admission
SS short stay
VR virtual
`
