package careteams

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to care-team-status (FHIR R4, CareTeam.status).
const statuses terms.Table = `
active active
new proposed
suspended suspended
held suspended
completed inactive
aborted inactive
cancelled inactive
canceled inactive
obsolete inactive
nullified entered-in-error
`
