package problems

import "recordbridge/shared/fhir/ccda/terms"

// noneInWords lists texts that mean no problems. Underscores stand for spaces.
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
