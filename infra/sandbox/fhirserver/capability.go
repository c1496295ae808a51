package fhirserver

import (
	"net/http"
	"slices"
)

type object = map[string]any

// Capability serves GET /metadata. The response is generated from the tables used for reading and searching, so it
// lists exactly the supported features.
func (s *Server) Capability(w http.ResponseWriter, _ *http.Request) {
	resources := make([]object, 0, len(s.types))
	for _, name := range s.types {
		if !slices.Contains(s.options.Unlisted, name) {
			resources = append(resources, s.capabilityOf(name))
		}
	}
	rest := object{"mode": "server", "security": s.securityStatement(), "resource": resources}
	if s.options.Batch {
		rest["interaction"] = []object{{"code": "batch"}}
	}
	s.writeFHIR(w, http.StatusOK, object{
		"resourceType":   s.options.Version.statement(),
		"status":         "active",
		"date":           "2026-03-01",
		"kind":           "instance",
		"software":       object{"name": "Recordbridge sandbox EHR"},
		"implementation": object{"description": "Synthetic patients for tests. No real people.", "url": s.base},
		"fhirVersion":    s.options.Version.number(),
		"format":         []string{"application/fhir+json", "json"},
		"rest":           []object{rest},
	})
}

func (s *Server) capabilityOf(resourceType string) object {
	statement := object{
		"type": s.options.Version.outer(resourceType), "versioning": "no-version",
		"interaction": []object{{"code": "read"}},
	}
	params := s.params(resourceType)
	if len(params) == 0 {
		return statement
	}
	listed := make([]object, 0, len(params))
	for _, p := range params {
		listed = append(listed, object{"name": p.name, "type": string(p.kind)})
	}
	statement["interaction"] = []object{{"code": "read"}, {"code": "search-type"}}
	statement["searchParam"] = listed
	includes := s.includes(resourceType)
	if s.options.HidesIncludes {
		includes = nil
	}
	for _, one := range includes {
		element := "searchInclude"
		if one.reverse {
			element = "searchRevInclude"
		}
		names, _ := statement[element].([]string)
		statement[element] = append(names, s.nameOf(one))
	}
	if resourceType == "Patient" && s.options.Everything {
		statement["operation"] = []object{{
			"name": "everything", "definition": "http://hl7.org/fhir/OperationDefinition/Patient-everything",
		}}
	}

	return statement
}

// includes returns the includes that the server supports, except those for types that it does not serve.
func (s *Server) includes(resourceType string) []include {
	return slices.DeleteFunc(includes(resourceType),
		func(one include) bool { return !slices.Contains(s.types, one.source) })
}

// nameOf returns the name of an _include or _revinclude value in the server's FHIR version.
func (s *Server) nameOf(one include) string {
	one.source = s.options.Version.outer(one.source)

	return one.name()
}

// securityStatement returns the oauth-uris extension of SMART 1.0, for clients that do not support the SMART discovery
// document.
func (s *Server) securityStatement() object {
	uri := func(name, value string) object { return object{"url": name, "valueUri": value} }

	return object{
		"cors": false,
		"service": []object{{"coding": []object{{
			"system": "http://terminology.hl7.org/CodeSystem/restful-security-service", "code": "SMART-on-FHIR",
		}}}},
		"extension": []object{{
			"url": "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris",
			"extension": []object{
				uri("authorize", s.security.Authorize), uri("token", s.security.Token),
				uri("revoke", s.security.Revoke), uri("introspect", s.security.Introspect),
			},
		}},
	}
}
