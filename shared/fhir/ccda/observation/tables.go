package observation

import "recordbridge/shared/fhir/ccda/terms"

// statuses maps ActStatus to observation-status (C-CDA on FHIR, ConceptMap CF-ResultStatus).
const statuses terms.Table = `
completed final
active registered
new registered
held registered
suspended registered
aborted cancelled
cancelled cancelled
canceled cancelled
nullified entered-in-error
obsolete entered-in-error
`

// plannedRoots maps elements to the template for planned statements (C-CDA R2.1, Plan of Treatment Section).
const plannedRoots terms.Table = `
procedure 2.16.840.1.113883.10.20.22.4.41
observation 2.16.840.1.113883.10.20.22.4.44
act 2.16.840.1.113883.10.20.22.4.39
supply 2.16.840.1.113883.10.20.22.4.43
`
