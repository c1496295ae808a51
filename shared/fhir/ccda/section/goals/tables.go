package goals

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to goal-status (FHIR R4, Goal.lifecycleStatus).
const statuses terms.Table = `
active active
new proposed
completed completed
held on-hold
suspended on-hold
aborted cancelled
cancelled cancelled
canceled cancelled
nullified entered-in-error
obsolete entered-in-error
`

// achievements maps the SNOMED CT values of a Progress Toward Goal Observation to goal-achievement codes and their
// displays (FHIR R4, Goal.achievementStatus).
const achievements terms.Table = `
390802008 achieved Achieved
390801001 not-achieved Not Achieved
706905005 in-progress In Progress
706906006 no-progress No Progress
385651009 in-progress In Progress
385425000 improving Improving
230993007 worsening Worsening
`
