package problems

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps the value of a Problem Status Observation to condition-clinical (C-CDA on FHIR, ConceptMap
// CF-ProblemStatus), with codes and words of older documents.
const statuses terms.Table = `
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

// concernStatuses maps ActStatus of the concern to condition-clinical, for a problem without a status of its own.
const concernStatuses terms.Table = `
active active
completed resolved
aborted inactive
suspended inactive
`
