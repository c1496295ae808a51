package fhir

import (
	"net/url"
	"slices"
	"strings"
)

// Named classifies a literal reference by whether it names a patient.
type Named int

// The kinds of references.
const (
	NoPatient Named = iota // a resource of another type
	APatient               // the Patient with the returned id
	Contained              // a contained resource, with the returned id
	Unclear                // cannot be decided from the text: urn:uuid:…, a search, an id without a type
)

// NamesPatient returns the Patient that a literal reference names, in any spelling: relative, absolute at any server,
// with a version, a query or dot segments (FHIR R4 references.html#literal). A reference that deviates from FHIR's
// spelling is read as any reader might interpret it.
func NamesPatient(reference string) (id string, names Named) {
	text := strings.ReplaceAll(strings.TrimSpace(reference), `\`, "/")
	if contained, ok := strings.CutPrefix(text, "#"); ok && contained != "" {
		return contained, Contained
	}
	text, _, _ = strings.Cut(text, "#")
	text, query, asked := strings.Cut(text, "?")
	if scheme, _, ok := strings.Cut(text, ":"); ok && !strings.Contains(scheme, "/") && !isHTTP(scheme) {
		return "", Unclear
	}
	if _, address, ok := strings.Cut(text, "://"); ok {
		_, text, _ = strings.Cut(address, "/")
	}
	var segments []string
	for segment := range strings.SplitSeq(text, "/") {
		if plain, err := url.PathUnescape(segment); err == nil {
			segment = plain
		}
		if segment != "" && segment != "." {
			segments = append(segments, segment)
		}
	}
	for at, segment := range slices.Backward(segments) {
		if !strings.EqualFold(segment, "Patient") {
			continue
		}
		if at+1 == len(segments) {
			return "", Unclear
		}
		return segments[at+1], APatient
	}
	if asked && strings.Contains(query, "Patient") {
		return "", Unclear
	}
	return "", otherType(segments, asked)
}

func isHTTP(scheme string) bool {
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// otherType classifies a path without a Patient.
func otherType(segments []string, asked bool) Named {
	for at, segment := range segments {
		if segment == "_history" {
			segments = segments[:at]
			break
		}
	}
	at := len(segments) - 2 // the type before the id
	if asked {
		at = len(segments) - 1 // the type that is searched
	}
	if at >= 0 && TypeName(segments[at]) != AnyType {
		return NoPatient
	}
	return Unclear
}

// Person identifies a Patient: the records it states to be the same person (Patient.link.other), and its business
// identifiers. There are at most 100 of each.
type Person struct {
	Links       []string
	Identifiers []Identifier
}

// maxKnown bounds each list of a Person, and the number of contained resources that are read.
const maxKnown = 100

// ScanPerson reads a Patient that Scan has accepted, or another resource, which may have identifiers too.
func ScanPerson(patient Resource) Person {
	var known Person
	s := scanner{buf: patient.JSON}
	// Scan has accepted the document, so there is no error.
	_ = s.object(1, func(name word) error {
		switch string(name.text()) {
		case "identifier", "link":
			return s.person(2, string(name.text()), &known)
		}
		return s.skip(2)
	})
	return known
}

// person reads the elements of the list with a name that a Person has.
func (s *scanner) person(depth int, name string, known *Person) error {
	if s.peek() != '[' {
		return s.skip(depth)
	}
	return s.array(depth, func() error {
		if s.peek() != '{' {
			return s.skip(depth + 1)
		}
		var discard Resource // a link's references are not collected
		if name == "identifier" {
			var one Identifier
			err := s.identifier(depth+1, word{}, &one, &discard)
			if one.Value != "" && len(known.Identifiers) < maxKnown {
				known.Identifiers = append(known.Identifiers, one)
			}
			return err
		}
		return s.object(depth+1, func(inner word) error {
			if string(inner.text()) != "other" {
				return s.skip(depth + 2)
			}
			err := s.subject(depth+2, inner, 1, &discard)
			for _, other := range discard.Subjects {
				if other.Reference != "" && len(known.Links) < maxKnown {
					known.Links = append(known.Links, other.Reference)
				}
			}
			discard = Resource{}
			return err
		})
	})
}

// Inner is a contained resource (FHIR R4 references.html#contained).
type Inner struct {
	Type, ID    string
	Identifiers []Identifier
}

// ScanContained reads the first 100 resources that a resource contains.
func ScanContained(outer Resource) (list []Inner) {
	s := scanner{buf: outer.JSON}
	// Scan has accepted the document, so there is no error.
	_ = s.object(1, func(name word) error {
		if string(name.text()) != "contained" || s.peek() != '[' {
			return s.skip(2)
		}
		return s.array(2, func() error {
			inner, _, err := s.resource(3)
			if inner.JSON != nil && len(list) < maxKnown {
				list = append(list, Inner{Type: inner.Type, ID: inner.ID, Identifiers: ScanPerson(inner).Identifiers})
			}
			return err
		})
	})
	return list
}
