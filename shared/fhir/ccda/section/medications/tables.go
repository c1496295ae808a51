package medications

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to the statuses of medication resources (C-CDA on FHIR, ConceptMap CF-MedicationStatus). One
// vendor uses "ordered", which is not an ActStatus code.
const statuses terms.Table = `
active active
new draft
ordered active
completed completed
aborted stopped
cancelled cancelled
canceled cancelled
suspended on-hold
held on-hold
nullified entered-in-error
obsolete entered-in-error
`

// listStatusRoot is the template OID of CCD's medication status.
const listStatusRoot = "2.16.840.1.113883.10.20.1.47"

// listStatuses maps CCD's medication status to the statuses of medication resources.
const listStatuses terms.Table = `
55561003 active
73425007 stopped
421139008 on-hold
392521001 completed
`
