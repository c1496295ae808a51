package fhir

// Capability holds the relevant parts of a server's CapabilityStatement (FHIR R4 capabilitystatement.html) or
// Conformance resource (the DSTU2 equivalent).
type Capability struct {
	FHIRVersion string               // such as "4.0.1"
	Software    string               // software.name; empty if not stated
	Release     string               // software.version; empty if not stated
	Date        string               // date of the statement, verbatim
	Formats     []string             // supported formats, verbatim: media types or "json"
	Resources   []CapabilityResource // types in rest entries with mode server, in the statement's order
	OAuth       OAuthURIs
	Batches     bool // whether the statement lists the system interaction batch or transaction
}

// CapabilityResource is one resource type that a server supports.
type CapabilityResource struct {
	Type         string   // satisfies ValidType
	SearchParams []string // names of search parameters
	Includes     []string // values of _include, such as "MedicationRequest:medication", or "*"
	RevIncludes  []string // values of _revinclude, such as "Provenance:target"
}

// OAuthURIs holds the endpoints from the OAuth extension that servers without a SMART configuration document use (SMART
// App Launch 1.0.0, FHIR authorization endpoint and token exchange endpoint). The URLs may be relative. Introspect and
// Revoke are often empty.
type OAuthURIs struct {
	Authorize  string
	Token      string
	Introspect string
	Revoke     string
}

// oauthExtension is the URL of the extension that holds OAuthURIs.
const oauthExtension = "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris"

// Limits on the parsed part of a CapabilityStatement. A typical CapabilityStatement lists about 150 types with 40 names
// each.
const (
	maxStatedTypes = 1000
	maxStatedNames = 40_000
	maxStatedName  = 128 // maximum length in bytes; longer names are ignored
)

// ParseCapability parses a CapabilityStatement, compacting raw in place. ParseCapability ignores members whose JSON
// type differs from FHIR's definition. ParseCapability returns ErrInvalid for invalid input.
func ParseCapability(raw []byte) (Capability, error) {
	reader := statement{scanner: scanner{buf: raw}}
	kind := ""
	err := reader.document(func() error {
		return reader.object(1, func(name word) (err error) {
			switch string(name.text()) {
			case "resourceType":
				kind, err = reader.stringOr(2)
			case "fhirVersion":
				reader.read.FHIRVersion, err = reader.stringOr(2)
			case "date":
				reader.read.Date, err = reader.stringOr(2)
			case "software":
				err = reader.software(2)
			case "format":
				err = reader.list(2, &reader.read.Formats)
			case "rest":
				err = reader.array(2, func() error { return reader.rest(3) })
			default:
				err = reader.skip(2)
			}
			return err
		})
	})
	switch {
	case err != nil:
		return Capability{}, err
	case kind != "CapabilityStatement" && kind != "Conformance":
		return Capability{}, errStatement
	}
	return reader.read, nil
}

type statement struct {
	scanner

	read  Capability
	names int // number of stored names
}

// software parses CapabilityStatement.software. If the name's value has an unexpected JSON type, the name stays empty.
func (r *statement) software(depth int) error {
	if r.peek() != '{' {
		return r.skip(depth)
	}
	return r.object(depth, func(name word) (err error) {
		switch string(name.text()) {
		case "name":
			r.read.Software, err = r.stringOr(depth + 1)
		case "version":
			r.read.Release, err = r.stringOr(depth + 1)
		default:
			err = r.skip(depth + 1)
		}
		return err
	})
}

func (r *statement) rest(depth int) error {
	mode, stated := "", Capability{}
	err := r.object(depth, func(name word) (err error) {
		switch string(name.text()) {
		case "mode":
			mode, err = r.stringOr(depth + 1)
		case "security":
			err = r.extensions(depth+1, func(depth int) error { return r.oauth(depth, &stated.OAuth) })
		case "resource":
			err = r.objects(depth+1, func(depth int) error { return r.resource(depth, &stated) })
		case "interaction":
			err = r.objects(depth+1, func(depth int) error { return r.interaction(depth, &stated) })
		default:
			err = r.skip(depth + 1)
		}
		return err
	})
	if err != nil || mode == "client" {
		return err
	}
	r.read.Resources = append(r.read.Resources, stated.Resources...)
	r.read.Batches = r.read.Batches || stated.Batches
	if stated.OAuth != (OAuthURIs{}) {
		r.read.OAuth = stated.OAuth
	}
	return nil
}

// objects parses a list and calls element for each object in the list. List elements of other types are ignored.
func (r *statement) objects(depth int, element func(depth int) error) error {
	if r.peek() != '[' {
		return r.skip(depth)
	}
	return r.array(depth, func() error {
		if r.peek() != '{' {
			return r.skip(depth + 1)
		}
		return element(depth + 1)
	})
}

// interaction parses one CapabilityStatement.rest.interaction entry.
func (r *statement) interaction(depth int, into *Capability) error {
	return r.object(depth, func(name word) error {
		if string(name.text()) != "code" {
			return r.skip(depth + 1)
		}
		code, err := r.stringOr(depth + 1)
		into.Batches = into.Batches || code == "batch" || code == "transaction"
		return err
	})
}

// extensions parses an object and calls element for each of its extensions.
func (r *statement) extensions(depth int, element func(depth int) error) error {
	if r.peek() != '{' {
		return r.skip(depth)
	}
	return r.object(depth, func(name word) error {
		if string(name.text()) != "extension" {
			return r.skip(depth + 1)
		}
		return r.objects(depth+1, element)
	})
}

// resource parses one CapabilityStatement.rest.resource entry.
func (r *statement) resource(depth int, into *Capability) error {
	var known CapabilityResource
	err := r.object(depth, func(name word) (err error) {
		switch string(name.text()) {
		case "type":
			known.Type, err = r.stringOr(depth + 1)
		case "searchParam":
			err = r.objects(depth+1, func(depth int) error {
				return r.object(depth, func(name word) error {
					if string(name.text()) != "name" {
						return r.skip(depth + 1)
					}
					return r.name(depth+1, &known.SearchParams)
				})
			})
		case "searchInclude":
			err = r.list(depth+1, &known.Includes)
		case "searchRevInclude":
			err = r.list(depth+1, &known.RevIncludes)
		default:
			err = r.skip(depth + 1)
		}
		return err
	})
	if ValidType(known.Type) && len(r.read.Resources)+len(into.Resources) < maxStatedTypes {
		into.Resources = append(into.Resources, known)
	}
	return err
}

func (r *statement) list(depth int, into *[]string) error {
	if r.peek() != '[' {
		return r.skip(depth)
	}
	return r.array(depth, func() error { return r.name(depth+1, into) })
}

func (r *statement) name(depth int, into *[]string) error {
	text, err := r.stringOr(depth)
	if text != "" && len(text) <= maxStatedName && r.names < maxStatedNames {
		r.names++
		*into = append(*into, text)
	}
	return err
}

// oauth parses one extension of rest.security.
func (r *statement) oauth(depth int, into *OAuthURIs) error {
	kind, found := "", OAuthURIs{}
	err := r.object(depth, func(name word) (err error) {
		switch string(name.text()) {
		case "url":
			kind, err = r.stringOr(depth + 1)
		case "extension":
			err = r.objects(depth+1, func(depth int) error { return r.oauthURI(depth, &found) })
		default:
			err = r.skip(depth + 1)
		}
		return err
	})
	if kind == oauthExtension {
		*into = found
	}
	return err
}

// oauthURI parses one extension that specifies an endpoint.
func (r *statement) oauthURI(depth int, into *OAuthURIs) error {
	kind, address := "", ""
	err := r.object(depth, func(name word) (err error) {
		switch string(name.text()) {
		case "url":
			kind, err = r.stringOr(depth + 1)
		case "valueUri":
			address, err = r.addressOr(depth + 1)
		default:
			err = r.skip(depth + 1)
		}
		return err
	})
	switch kind {
	case "authorize":
		into.Authorize = address
	case "token":
		into.Token = address
	case "introspect":
		into.Introspect = address
	case "revoke":
		into.Revoke = address
	}
	return err
}
