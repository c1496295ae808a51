package equipment

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to supplydelivery-status (FHIR R4, SupplyDelivery.status).
const statuses terms.Table = `
completed completed
active in-progress
held in-progress
suspended in-progress
aborted abandoned
cancelled abandoned
canceled abandoned
nullified entered-in-error
obsolete entered-in-error
`
