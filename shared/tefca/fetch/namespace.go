package fetch

import (
	"bytes"

	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/ids"
)

// inNamespace returns resources with ids of the facility's own, derived from the converter's: facilities of one patient
// state some facts with the same identifiers, and an organisation keeps their exports side by side. References follow.
// The same documents of a facility always get the same ids. It overwrites the resources.
func inNamespace(facility string, resources []ccda.Resource) [][]byte {
	own := make(map[string]string, 2*len(resources)) // by id and by reference, which stand alone in a string
	for _, r := range resources {
		id := ids.Derive("resource of a facility", facility, r.ID)
		own[r.ID], own[r.Type+"/"+r.ID] = id, id
	}
	all := make([][]byte, 0, len(resources))
	for _, r := range resources {
		for rest := r.JSON; ; {
			end := bytes.IndexByte(rest, '"')
			if end < 0 {
				break
			}
			if id, known := own[string(rest[:end])]; known {
				copy(rest[end-len(id):end], id) // a UUID in place of a UUID
			}
			rest = rest[end+1:]
		}
		all = append(all, r.JSON)
	}
	return all
}
