package fhir

import (
	"encoding/json"
	"fmt"
)

// Capability is what the service reads of a server's CapabilityStatement (FHIR R4 capabilitystatement.html), or of
// the Conformance resource that DSTU2 has in its place.
type Capability struct {
	FHIRVersion string               // such as "4.0.1"
	Software    string               // software.name; empty when not stated
	Resources   []CapabilityResource // types of the server side, in the statement's order
	OAuth       OAuthURIs
}

// CapabilityResource is one resource type that a server knows.
type CapabilityResource struct {
	Type         string   // always ValidType
	SearchParams []string // names
	Includes     []string // what _include takes, such as "MedicationRequest:medication", or "*"
	RevIncludes  []string // what _revinclude takes, such as "Provenance:target"
}

// OAuthURIs are the endpoints that servers without a SMART configuration document state in an extension (SMART App
// Launch 1.0.0, FHIR authorization endpoint and token exchange endpoint). They may be relative. Introspect and Revoke are
// empty more often than not.
type OAuthURIs struct {
	Authorize  string
	Token      string
	Introspect string
	Revoke     string
}

// oauthExtension is the url of the extension that holds OAuthURIs.
const oauthExtension = "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris"

// statement is the part of a CapabilityStatement that is read. Statements are read once per export, so that the
// comfort of encoding/json costs nothing here.
type statement struct {
	ResourceType string `json:"resourceType"`
	FHIRVersion  string `json:"fhirVersion"`
	Software     named  `json:"software"`
	Rest         []struct {
		Mode     string `json:"mode"`
		Security struct {
			Extension []extension `json:"extension"`
		} `json:"security"`
		Resource []struct {
			Type        string `json:"type"`
			SearchParam []struct {
				Name string `json:"name"`
			} `json:"searchParam"`
			SearchInclude    []string `json:"searchInclude"`
			SearchRevInclude []string `json:"searchRevInclude"`
		} `json:"resource"`
	} `json:"rest"`
}

// named is the name of an object. One of another shape has none, and spoils nothing else of the statement.
type named string

// UnmarshalJSON implements json.Unmarshaler.
func (n *named) UnmarshalJSON(raw []byte) error {
	var read struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(raw, &read) == nil {
		*n = named(read.Name)
	}
	return nil
}

type extension struct {
	URL       string      `json:"url"`
	ValueURI  string      `json:"valueUri"`
	Extension []extension `json:"extension"`
}

// ParseCapability reads a CapabilityStatement. The error is ErrInvalid.
func ParseCapability(raw []byte) (Capability, error) {
	if len(raw) > MaxPage {
		return Capability{}, errSize
	}
	var read statement
	if err := json.Unmarshal(raw, &read); err != nil {
		return Capability{}, fmt.Errorf("%w: %T", errStatement, err) // the text of err could quote the document
	}
	if read.ResourceType != "CapabilityStatement" && read.ResourceType != "Conformance" {
		return Capability{}, errStatement
	}
	capability := Capability{FHIRVersion: read.FHIRVersion, Software: string(read.Software)}
	for _, rest := range read.Rest {
		if rest.Mode == "client" {
			continue
		}
		for _, resource := range rest.Resource {
			if !ValidType(resource.Type) {
				continue
			}
			known := CapabilityResource{
				Type: resource.Type, Includes: resource.SearchInclude, RevIncludes: resource.SearchRevInclude,
			}
			for _, param := range resource.SearchParam {
				known.SearchParams = append(known.SearchParams, param.Name)
			}
			capability.Resources = append(capability.Resources, known)
		}
		for _, outer := range rest.Security.Extension {
			if outer.URL == oauthExtension {
				capability.OAuth = oauthURIs(outer)
			}
		}
	}
	return capability, nil
}

func oauthURIs(outer extension) OAuthURIs {
	var found OAuthURIs
	for _, inner := range outer.Extension {
		switch inner.URL {
		case "authorize":
			found.Authorize = inner.ValueURI
		case "token":
			found.Token = inner.ValueURI
		case "introspect":
			found.Introspect = inner.ValueURI
		case "revoke":
			found.Revoke = inner.ValueURI
		}
	}
	return found
}
