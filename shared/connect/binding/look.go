package binding

import "recordbridge/shared/words/fault"

// Look describes the appearance of an attempt's sign-in windows. Look holds the patient's language and the
// organisation's appearance at the time that the attempt was created. A field is empty if its value is unknown.
type Look struct {
	Language     string // language: "en" or "es"
	Organisation string // name
	Logo         string // https URL that doesn't point to this service
	Accent       string // colour, "#rrggbb" in lower case
}

// CheckLanguage returns fault.Invalid if windows are not available in the given language. The empty language is valid.
func CheckLanguage(language string) error {
	switch language {
	case "", "en", "es":
		return nil
	}
	return fault.BadRequest("lang must be en or es.").About("lang")
}
