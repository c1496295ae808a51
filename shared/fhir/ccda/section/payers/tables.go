package payers

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to fm-status (FHIR R4, Coverage.status). In C-CDA, the status code describes the statement,
// so a policy in force has the status code "completed".
const statuses terms.Table = `
completed active
active active
aborted cancelled
cancelled cancelled
canceled cancelled
suspended cancelled
obsolete cancelled
nullified entered-in-error
new draft
held draft
`

// relationships maps RoleCode (Coverage Role Type) to subscriber-relationship (FHIR R4, Coverage.relationship).
const relationships terms.Table = `
SELF self
ONESELF self
SPS spouse
SPSE spouse
HUSB spouse
WIFE spouse
DOMPART common
CHILD child
NCHILD child
SON child
DAU child
SONC child
DAUC child
STPCHLD child
CHLDADOPT child
CHLDFOST child
PRN parent
MTH parent
FTH parent
INJ injured
FAMDEP other
HANDIC other
STUD other
DEP other
`
