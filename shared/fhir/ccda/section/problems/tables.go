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

// noneInWords are words in place of a problem that say that there is none, with underscores for spaces.
const noneInWords terms.Table = `
no_known_problems yes
no_known_problem yes
no_known_conditions yes
no_known_active_problems yes
no_known_medical_problems yes
no_active_problems yes
no_current_problems yes
no_current_problems_or_disability yes
no_problems yes
`
