package fetch

import (
	"bytes"
	"iter"
	"strings"

	"recordbridge/shared/words/ids"
)

// names maps the converter's IDs and references to facility-specific IDs. In a resource, each ID or reference occurs
// only as a complete JSON string.
type names map[string]string

// namesIn derives facility-specific IDs for resources. Each resource is given as "Type/id". Several facilities may
// state the same fact about a patient with the same identifiers, and an organisation stores the exports of all
// facilities together. The same documents from a facility always yield the same IDs.
func namesIn(facility string, resources iter.Seq[string]) names {
	own := names{}
	for reference := range resources {
		_, id, _ := strings.Cut(reference, "/")
		own[id] = ids.Derive("resource of a facility", facility, id)
		own[reference] = own[id]
	}
	return own
}

// replace overwrites a resource's own ID and the IDs in its references.
func (own names) replace(resource []byte) {
	for rest := resource; ; {
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return
		}
		if id, known := own[string(rest[:end])]; known {
			copy(rest[end-len(id):end], id) // both IDs are UUIDs, so their lengths are equal
		}
		rest = rest[end+1:]
	}
}
