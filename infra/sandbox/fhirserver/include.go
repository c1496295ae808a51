package fhirserver

import "recordbridge/infra/sandbox/scope"

// include adds related resources to a search's matches (https://hl7.org/fhir/R4/search.html#revinclude).
type include struct {
	// source is the type that contains the reference. param is the search parameter for the reference.
	source, param string
	// reverse makes the include add the sources that refer to a match. If reverse is false, the include adds the
	// resources that a match refers to.
	reverse bool
	// path is the reference's path in the source resource.
	path []string
}

// name returns the include's value for _include or _revinclude. The value uses R4's names.
func (i include) name() string { return i.source + ":" + i.param }

// provenance is the only reverse include. Every searchable type supports provenance, as US Core requires.
func provenance() include {
	return include{source: "Provenance", param: "target", reverse: true, path: []string{"target"}}
}

// includes returns the includes supported in a search for the type, in the order of the CapabilityStatement. If the
// type can't be searched, the list is empty.
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

// links returns a resource's references for includes, keyed by the include's name.
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

// brought returns the resources that the requested includes add to a match, within the scopes. References to resources
// outside the record are ignored.
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
