package family

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to history-status (FHIR R4, FamilyMemberHistory.status).
const statuses terms.Table = `
completed completed
aborted partial
active partial
new partial
held partial
suspended partial
nullified entered-in-error
obsolete entered-in-error
`
