package listing

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// Systems and extensions that importers read (FHIR R4; SMART App Launch 2.2, section 8).
const (
	systemNPI     = "http://hl7.org/fhir/sid/us-npi"
	systemWebsite = "urn:ietf:rfc:3986"
	brandOf       = "http://hl7.org/fhir/StructureDefinition/organization-brand"
	portalOf      = "http://hl7.org/fhir/StructureDefinition/organization-portal"
	absentReason  = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
	fhirVersion   = "/endpoint-fhir-version" // last path segment of the extension's URL (HL7, SMART drafts, Argonaut)
	categories    = "-access-category"       // user-access-category, formerly patient-access-category
	connectsREST  = "hl7-fhir-rest"
)

type entry struct {
	FullURL  string          `json:"fullUrl"`
	Resource json.RawMessage `json:"resource"`
}

type head struct {
	ResourceType string            `json:"resourceType"`
	ID           string            `json:"id"`
	Contained    []json.RawMessage `json:"contained"`
}

type organization struct {
	Active     *bool             `json:"active"`
	Name       string            `json:"name"`
	Alias      []string          `json:"alias"`
	Identifier []identifier      `json:"identifier"`
	Type       []codeableConcept `json:"type"`
	Telecom    []identifier      `json:"telecom"`
	Address    []address         `json:"address"`
	PartOf     reference         `json:"partOf"`
	Endpoint   []reference       `json:"endpoint"`
	Extension  []extension       `json:"extension"`
}

type endpoint struct {
	Address        string          `json:"address"`
	AddressMore    element         `json:"_address"`
	Status         string          `json:"status"`
	Name           string          `json:"name"`
	ConnectionType json.RawMessage `json:"connectionType"` // a Coding in R4, a list in R5
	Managing       reference       `json:"managingOrganization"`
	Extension      []extension     `json:"extension"`
}

type identifier struct {
	System string `json:"system"`
	Value  string `json:"value"`
}

type codeableConcept struct {
	Coding []struct {
		System string `json:"system"`
		Code   string `json:"code"`
	} `json:"coding"`
}

type address struct {
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country"`
}

type reference struct {
	Reference string      `json:"reference"`
	Display   string      `json:"display"`
	Extension []extension `json:"extension"`
}

type element struct {
	Extension []extension `json:"extension"`
}

type extension struct {
	URL            string      `json:"url"`
	Extension      []extension `json:"extension"`
	ValueURL       string      `json:"valueUrl"`
	ValueURI       string      `json:"valueUri"`
	ValueString    string      `json:"valueString"`
	ValueMarkdown  string      `json:"valueMarkdown"`
	ValueCode      string      `json:"valueCode"`
	ValueReference reference   `json:"valueReference"`
}

// text returns the extension's value, which may have any text type.
func (e extension) text() string {
	for _, value := range []string{e.ValueURL, e.ValueURI, e.ValueString, e.ValueMarkdown, e.ValueCode} {
		if value != "" {
			return value
		}
	}
	return ""
}

// first returns the text from the first extension with the given URL.
func first(extensions []extension, name string) string {
	for _, e := range extensions {
		if e.URL == name && e.text() != "" {
			return e.text()
		}
	}
	return ""
}

// isAbsent reports whether a publisher declares that a value is absent (asked-declined or asked-unknown).
func isAbsent(extensions []extension) bool { return first(extensions, absentReason) != "" }

// isOff reports whether an endpoint is listed but not active (FHIR R4, EndpointStatus).
func (e endpoint) isOff() bool { return e.Status != "" && e.Status != "active" }

func (e endpoint) isREST() bool {
	return len(e.ConnectionType) == 0 || strings.Contains(string(e.ConnectionType), connectsREST)
}

func (e endpoint) version() string {
	for _, x := range e.Extension {
		if strings.HasSuffix(x.URL, fhirVersion) {
			return version(x.text())
		}
	}
	return ""
}

// category returns the first category defined by SMART.
func (o organization) category() string {
	for _, kind := range o.Type {
		for _, c := range kind.Coding {
			if strings.HasSuffix(c.System, categories) {
				return c.Code
			}
		}
	}
	return ""
}

// unmarshal decodes a list entry, reporting and omitting values of the wrong type. If nothing could be decoded, it
// returns a non-empty Reason.
func (r *Report) unmarshal(raw []byte, key string, into any) Reason {
	if !utf8.Valid(raw) {
		return BadText
	}
	err := json.Unmarshal(raw, into)
	if _, isType := errors.AsType[*json.UnmarshalTypeError](err); isType {
		r.problem(BadType, key)
		return ""
	}
	if err != nil {
		return NotFormat
	}
	return ""
}
