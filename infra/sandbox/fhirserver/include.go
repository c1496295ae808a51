package fhirserver

import "recordbridge/infra/sandbox/scope"

// include is a way to bring other resources along with the matches of a search
// (https://hl7.org/fhir/R4/search.html#revinclude).
type include struct {
	// source has the reference, and param is the search parameter that follows it.
	source, param string
	// reverse brings the sources that refer to a match, where a plain include brings what a match refers to.
	reverse bool
	// path leads to the reference in the source.
	path []string
}

// name is the value of _include or _revinclude, in the words of R4.
func (i include) name() string { return i.source + ":" + i.param }

// provenance is the only reverse include, and one that every searchable type takes, as US Core asks.
func provenance() include {
	return include{source: "Provenance", param: "target", reverse: true, path: []string{"target"}}
}

// includes are the ones that a search for the type takes, when it can be searched, in the order of
// the CapabilityStatement.
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

// links are the references of a resource that includes follow, by the include's name.
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

// brought are the resources that the asked includes bring along with a match, as far as the scopes reach. A reference
// to what the record does not hold brings nothing.
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

// readable are the resources that the scopes let the client read.
func (c session) readable(resources []*indexed) []*indexed {
	var allowed []*indexed
	for _, one := range resources {
		if scope.Allows(c.access.Scopes, c.version.outer(one.Type), scope.Read) {
			allowed = append(allowed, one)
		}
	}

	return allowed
}
