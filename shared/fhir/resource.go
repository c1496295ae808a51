package fhir

import (
	"bytes"
)

// Resource holds the parts of a FHIR resource that the service reads. JSON is the complete resource. It may differ from
// the original only in white space between tokens.
type Resource struct {
	Type string // resourceType, which satisfies ValidType
	// id, verbatim; empty if absent or longer than 512 bytes; may fail ValidID, because some servers violate the rules
	ID          string
	JSON        []byte       // compact JSON without line breaks, as a slice of the scanned buffer
	References  []string     // every "reference" string in document order, including references in contained resources
	Attachments []Attachment // Attachments with a URL, in document order
	Subjects    []Subject    // references to the patient to whom the resource belongs, in document order
	OfAPatient  bool         // whether any reference states the type Patient
	LastUpdated string       // meta.lastUpdated, verbatim; empty if absent
	Cut         int          // number of references and attachments that exceeded the limit for one resource

	// Questionnaire is a QuestionnaireResponse's questionnaire member, verbatim, or empty if it is not a string.
	Questionnaire string

	sourceAt int // offset in JSON at which to insert meta.source; 0 if the source exists or can't be inserted
	found    int // total bytes of the stored references and attachments
}

// Attachment is a FHIR Attachment whose content is at a URL (FHIR R4 datatypes.html#Attachment).
type Attachment struct {
	URL         string
	ContentType string // empty if not stated
}

// Scan parses one resource. It compacts raw in place: raw is overwritten, and Resource.JSON is a slice of it. A
// duplicate resourceType or id is invalid, because FHIR requires unique names (json.html) and consumers of the exported
// line might disagree about the value. Scan returns ErrInvalid if raw is invalid.
func Scan(raw []byte) (Resource, error) {
	s := &scanner{buf: raw}
	var found Resource
	usable := false
	err := s.document(func() (err error) {
		found, usable, err = s.resource(1)
		return err
	})
	switch {
	case err != nil:
		return Resource{}, err
	case !usable:
		return Resource{}, errResource
	}
	return found, nil
}

// resource parses a value. A value is usable as a resource if it is an object with exactly one valid resourceType and
// at most one id.
func (s *scanner) resource(depth int) (found Resource, usable bool, err error) {
	start := s.end
	if s.peek() != '{' {
		return Resource{}, false, s.skip(depth)
	}
	types, ids, metas, identified, subjects := 0, 0, 0, 0, 0
	err = s.object(depth, func(name word) error {
		switch string(name.text()) {
		case "resourceType":
			types++
			found.Type, err = s.stringOr(depth + 1)
			identified = s.end
			return err
		case "id":
			ids++
			found.ID, err = s.stringOr(depth + 1)
			identified = s.end
			return err
		case "meta":
			metas++
			return s.meta(depth+1, name, start, &found)
		case "questionnaire":
			if s.peek() == '"' {
				found.Questionnaire, err = s.addressOr(depth + 1)
				return err
			}
		case "subject", "patient", "beneficiary", "individual", "for", "candidate":
			subjects++
			return s.subject(depth+1, name, subjects, &found)
		}
		return s.collect(depth+1, name, nil, &found)
	})
	if err != nil {
		return Resource{}, false, err
	}
	switch metas {
	case 0:
		found.sourceAt = identified - start
	case 1: // The offset was set when meta was parsed.
	default:
		found.sourceAt = 0
	}
	found.JSON = s.buf[start:s.end:s.end]
	return found, types == 1 && ids <= 1 && ValidType(found.Type), nil
}

// stringOr parses a value of any type. If the value is a string short enough for a name, id or code, stringOr returns
// that string. For any other value, it returns "".
func (s *scanner) stringOr(depth int) (string, error) {
	if s.peek() != '"' {
		return "", s.skip(depth)
	}
	text, err := s.string()
	if err != nil {
		return "", err
	}
	return string(text.text()), nil
}

// addressOr is like stringOr but returns a URL.
func (s *scanner) addressOr(depth int) (string, error) {
	if s.peek() != '"' {
		return "", s.skip(depth)
	}
	text, err := s.string()
	return string(text.upTo(MaxAddress)), err
}

// collect parses the value of the member with the given name and adds its references and attachments to found.
// attachment is the enclosing Attachment, or nil if there is none.
func (s *scanner) collect(depth int, name word, attachment *Attachment, found *Resource) error {
	switch s.peek() {
	case '{':
		var own *Attachment
		if holdsAttachment(name) {
			own = &Attachment{}
		}
		err := s.object(depth, func(inner word) error { return s.collect(depth+1, inner, own, found) })
		if err == nil && own != nil && own.URL != "" {
			found.Attachments = append(found.Attachments, *own)
		}
		return err
	case '[':
		plain := word{raw: name.text()} // decoded once rather than for each element, because a hostile name can be long
		return s.array(depth, func() error {
			if s.peek() == '"' {
				return s.skip(depth + 1) // A list of strings contains no reference or attachment.
			}
			return s.collect(depth+1, plain, nil, found)
		})
	case '"':
		value, err := s.string()
		if err != nil {
			return err
		}
		note(name, value, attachment, found)
		return nil
	default:
		return s.scalar()
	}
}

// note stores a string member of a reference or attachment.
func note(name, value word, attachment *Attachment, found *Resource) {
	switch string(name.text()) {
	case "reference":
		if keeps(found, value) {
			found.References = append(found.References, string(value.upTo(MaxAddress)))
		}
	case "type":
		// a type's name or its canonical URL
		found.OfAPatient = found.OfAPatient || bytes.HasSuffix(value.text(), []byte("Patient"))
	case "url":
		if attachment != nil && keeps(found, value) {
			attachment.URL = string(value.upTo(MaxAddress))
		}
	case "contentType":
		if attachment != nil {
			attachment.ContentType = string(value.text())
		}
	}
}

// keeps reports whether the resource can store another reference or attachment URL. Otherwise, it increments r.Cut.
func keeps(r *Resource, address word) bool {
	kept := len(r.References) + len(r.Attachments)
	if len(address.raw) > MaxAddress || kept >= maxFound || r.found+len(address.raw) > maxFoundBytes {
		r.Cut++
		return false
	}
	r.found += len(address.raw)
	return true
}

// holdsAttachment reports whether a member with the given name is an Attachment or a list of Attachments. It decides by
// the member's name, because JSON doesn't contain FHIR data types. The names are those of
// DocumentReference.content.attachment, DiagnosticReport.presentedForm, Media.content and Patient.photo, and names that
// end in Attachment, such as Communication.payload.contentAttachment. An Extension also has a url, but no member with
// one of these names holds an Extension.
func holdsAttachment(name word) bool {
	text := name.text()
	switch string(text) {
	case "attachment", "presentedForm", "content", "photo":
		return true
	default:
		return bytes.HasSuffix(text, []byte("Attachment"))
	}
}
