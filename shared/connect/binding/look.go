package binding

import "recordbridge/shared/words/fault"

// Look describes the appearance of an attempt's sign-in windows. It holds the patient's language and the organisation's
// branding as they were when the attempt was created. Fields with unknown values are empty.
type Look struct {
	Language     string // "en" or "es"
	Organisation string // name
	Logo         string // https URL not served by this service
	Accent       string // "#rrggbb" in lower case
}

// CheckLanguage returns fault.Invalid for an unsupported language. The empty language is valid.
func CheckLanguage(language string) error {
	switch language {
	case "", "en", "es":
		return nil
	}
	return fault.BadRequest("lang must be en or es.").About("lang")
}
