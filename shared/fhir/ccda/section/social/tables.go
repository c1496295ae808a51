package social

import "recordbridge/shared/fhir/ccda/terms"

// unknownValues maps the null flavors that can be a value to their display (C-CDA on FHIR, "Social History":
// nullFlavor).
const unknownValues terms.Table = `
UNK unknown
ASKU asked but unknown
OTH other
NASK not asked
`
