package social

import "recordbridge/shared/fhir/ccda/terms"

// unknownValues has the display of null flavors that are an answer (C-CDA on FHIR, "Social History": nullFlavor).
const unknownValues terms.Table = `
UNK unknown
ASKU asked but unknown
OTH other
NASK not asked
`
