package switches

import "slices"

// Table returns every switch there is.
func Table() []Switch { return slices.Concat(fhirTable(), recordTable(), oauthTable()) }
