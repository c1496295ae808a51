package fhirserver

import "recordbridge/infra/sandbox/scope"

// include adds related resources to a search's matches (https://hl7.org/fhir/R4/search.html#revinclude).
type include struct {
	// source is the type of the resource that contains the reference. param is the search parameter for the reference.
	source, param string
	// reverse adds the resources that reference a matching resource (_revinclude). If reverse is false, the include
	// adds the resources that a match references.
	reverse bool
	path    []string
}

// name returns the include as an _include or _revinclude value with R4 names.
func (i include) name() string { return i.source + ":" + i.param }

// provenance returns the only supported _revinclude. US Core requires _revinclude=Provenance:target for every
// searchable type.
func provenance() include {
	return include{source: "Provenance", param: "target", reverse: true, path: []string{"target"}}
}

// includes returns the _include and _revinclude values supported when searching for a type, in CapabilityStatement
// order.
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

// links returns the references in a resource that includes can follow, keyed by include name.
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

// brought returns the resources that the requested _include and _revinclude values add for a match, as far as the
// scopes allow. References to resources outside the record are ignored.
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

// readable returns the resources that the client's scopes allow it to read.
func (c session) readable(resources []*indexed) []*indexed {
	var allowed []*indexed
	for _, one := range resources {
		if scope.Allows(c.access.Scopes, c.version.outer(one.Type), scope.Read) {
			allowed = append(allowed, one)
		}
	}

	return allowed
}
