package fetch

import (
	"bytes"
	"iter"
	"strings"

	"recordbridge/shared/words/ids"
)

// names maps the converter's IDs and references to IDs that are specific to a facility. In a resource, every ID and
// every reference is a complete JSON string.
type names map[string]string

// namesIn derives facility-specific IDs for resources, each of which is given as "Type/id". Facilities may use the same
// identifiers for the same fact, and an organisation stores all their exports together. The same documents from the
// same facility always yield the same IDs.
func namesIn(facility string, resources iter.Seq[string]) names {
	own := names{}
	for reference := range resources {
		_, id, _ := strings.Cut(reference, "/")
		own[id] = ids.Derive("resource of a facility", facility, id)
		own[reference] = own[id]
	}
	return own
}

// replace overwrites a resource's ID and the IDs in its references.
func (own names) replace(resource []byte) {
	for rest := resource; ; {
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return
		}
		if id, known := own[string(rest[:end])]; known {
			copy(rest[end-len(id):end], id) // Both IDs are UUIDs of the same length.
		}
		rest = rest[end+1:]
	}
}
