package fhir

// Refusal is what the body of a refused request says about why, as far as that helps to ask better.
type Refusal string

// The refusals (fhir.md section 2.1, adaptive ladder).
const (
	Unexplained Refusal = ""         // nothing that helps
	NeedsMore   Refusal = "needs"    // another parameter is required
	NoCount     Refusal = "no_count" // _count is not known
	Denied      Refusal = "denied"   // scope, the patient's or the site's choice
	Unsupported Refusal = "unknown"  // the type or the interaction does not exist here
	Missing     Refusal = "missing"  // the resource does not exist here
)
