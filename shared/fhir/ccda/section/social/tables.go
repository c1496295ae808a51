package social

import "recordbridge/shared/fhir/ccda/terms"

// unknownValues maps each null flavor that can be a value to its display (C-CDA on FHIR, "Social History": nullFlavor).
const unknownValues terms.Table = `
UNK unknown
ASKU asked but unknown
OTH other
NASK not asked
`
