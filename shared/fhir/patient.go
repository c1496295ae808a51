package fhir

import (
	"net/url"
	"slices"
	"strings"
)

// Named classifies a literal reference by whether it identifies a patient.
type Named int

// Kinds of references.
const (
	NoPatient Named = iota // reference to a resource of another type
	APatient               // reference to the Patient with the returned id
	Contained              // reference to a contained resource with the returned id
	Unclear                // can't be determined from the text: urn:uuid:…, a search, or an id without a type
)

// NamesPatient returns the id of the Patient to which a literal reference points. The reference may be relative, or
// absolute on any server, and may contain a version, a query or dot segments (FHIR R4 references.html#literal). Every
// plausible interpretation of a malformed reference is considered.
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

// otherType classifies a path that does not contain Patient.
func otherType(segments []string, asked bool) Named {
	for at, segment := range segments {
		if segment == "_history" {
			segments = segments[:at]
			break
		}
	}
	at := len(segments) - 2 // index of the resource type, which precedes the id
	if asked {
		at = len(segments) - 1 // index of the type being searched
	}
	if at >= 0 && TypeName(segments[at]) != AnyType {
		return NoPatient
	}
	return Unclear
}

// Person holds the identities of a Patient: up to 100 records stated to be the same person (Patient.link.other) and up
// to 100 business identifiers.
type Person struct {
	Links       []string
	Identifiers []Identifier
}

// maxKnown limits each list in a Person, and the contained resources that are read.
const maxKnown = 100

// ScanPerson extracts the identities of a Patient, or another resource with identifiers, that Scan has accepted.
func ScanPerson(patient Resource) Person {
	var known Person
	s := scanner{buf: patient.JSON}
	// Scan has already accepted the document, so this can't fail.
	_ = s.object(1, func(name word) error {
		switch string(name.text()) {
		case "identifier", "link":
			return s.person(2, string(name.text()), &known)
		}
		return s.skip(2)
	})
	return known
}

// person adds a Patient's member to known if the member identifies the person.
func (s *scanner) person(depth int, name string, known *Person) error {
	if s.peek() != '[' {
		return s.skip(depth)
	}
	return s.array(depth, func() error {
		if s.peek() != '{' {
			return s.skip(depth + 1)
		}
		var discard Resource // References in a link are not collected.
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

// ScanContained returns up to 100 of a resource's contained resources.
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
