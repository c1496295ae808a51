package concerns

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus of a concern to condition-clinical; every other one is active.
const statuses terms.Table = `
completed resolved
aborted inactive
cancelled inactive
suspended inactive
`
