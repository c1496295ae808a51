package fetch

import (
	"bytes"
	"iter"
	"strings"

	"recordbridge/shared/words/ids"
)

// names maps the converter's ids and references to facility-specific ids. In a resource, each occurs only as a complete
// string.
type names map[string]string

// namesIn derives facility-specific ids for resources, each named as "Type/id". Several facilities may state the same
// fact about a patient with the same identifiers, and an organisation stores their exports side by side. The same
// documents of a facility always get the same ids.
func namesIn(facility string, resources iter.Seq[string]) names {
	own := names{}
	for reference := range resources {
		_, id, _ := strings.Cut(reference, "/")
		own[id] = ids.Derive("resource of a facility", facility, id)
		own[reference] = own[id]
	}
	return own
}

// replace overwrites the ids in a resource: its own and those in its references.
func (own names) replace(resource []byte) {
	for rest := resource; ; {
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return
		}
		if id, known := own[string(rest[:end])]; known {
			copy(rest[end-len(id):end], id) // both are UUIDs of equal length
		}
		rest = rest[end+1:]
	}
}
