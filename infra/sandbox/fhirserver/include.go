package fhirserver

import "recordbridge/infra/sandbox/scope"

// include adds related resources to the matches of a search (https://hl7.org/fhir/R4/search.html#revinclude).
type include struct {
	// source is the type with the reference, and param the search parameter that follows it.
	source, param string
	// reverse includes the sources that refer to a match; a plain include adds the resources that a match refers to.
	reverse bool
	// path is the path of the reference in the source.
	path []string
}

// name returns the value of _include or _revinclude, in R4's names.
func (i include) name() string { return i.source + ":" + i.param }

// provenance is the only reverse include. Every searchable type supports it, as US Core requires.
func provenance() include {
	return include{source: "Provenance", param: "target", reverse: true, path: []string{"target"}}
}

// includes returns the includes that a search for the type supports, if it can be searched, in the order of the
// CapabilityStatement.
func includes(resourceType string) []include {
	switch resourceType {
	case "MedicationRequest", "MedicationDispense":
		return []include{{source: resourceType, param: "medication", path: []string{"medicationReference"}}, provenance()}
	case "CareTeam":
		return []include{{source: resourceType, param: "participant", path: []string{"participant", "member"}}, provenance()}
	default:
		return []include{provenance()}
	}
}

// links returns a resource's references that includes follow, by the include's name.
func links(resourceType string, body any) map[string][]string {
	found := map[string][]string{}
	for _, one := range includes(resourceType) {
		if one.source != resourceType {
			continue
		}
		found[one.name()] = param{kind: kindReference, paths: [][]string{one.path}}.extract(body)
	}

	return found
}

// brought returns the resources that the requested includes add to a match, within the scopes. A reference to a
// resource outside the record adds nothing.
func (c session) brought(asked []include, match *indexed) []*indexed {
	var found []*indexed
	for _, one := range asked {
		if one.reverse {
			found = append(found, c.record.pointing[one.name()+" "+match.key()]...)

			continue
		}
		for _, reference := range match.links[one.name()] {
			if target := c.record.byKey[reference]; target != nil {
				found = append(found, target)
			}
		}
	}

	return c.readable(found)
}

// readable returns the resources that the scopes allow the client to read.
func (c session) readable(resources []*indexed) []*indexed {
	var allowed []*indexed
	for _, one := range resources {
		if scope.Allows(c.access.Scopes, c.version.outer(one.Type), scope.Read) {
			allowed = append(allowed, one)
		}
	}

	return allowed
}
