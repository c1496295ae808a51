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

// concernStatuses maps a concern's ActStatus to condition-clinical (C-CDA on FHIR, ConceptMap
// CF-ConditionClinicalStatus). The table also contains other statuses.
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

// problemStatuses maps the value of a Problem Status Observation to condition-clinical (C-CDA on FHIR, ConceptMap
// CF-ProblemStatus). The table also contains codes and texts from older documents.
const problemStatuses terms.Table = `
55561003 active
active active
246455001 recurrence
263855007 relapse
277022003 remission
765205004 remission
73425007 inactive
90734009 inactive
inactive inactive
chronic active
413322009 resolved
resolved resolved
`
