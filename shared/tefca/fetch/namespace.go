package fetch

import (
	"bytes"
	"iter"
	"strings"

	"recordbridge/shared/words/ids"
)

// names has the ids of a facility's own, by the converter's ids and references, which stand alone in a string.
type names map[string]string

// namesIn derives ids of a facility's own for resources, of which each is named as "Type/id": facilities of one patient
// state some facts with the same identifiers, and an organisation keeps their exports side by side. The same documents
// of a facility always get the same ids.
func namesIn(facility string, resources iter.Seq[string]) names {
	own := names{}
	for reference := range resources {
		_, id, _ := strings.Cut(reference, "/")
		own[id] = ids.Derive("resource of a facility", facility, id)
		own[reference] = own[id]
	}
	return own
}

// replace overwrites the ids in a resource, its own and those of its references.
func (own names) replace(resource []byte) {
	for rest := resource; ; {
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return
		}
		if id, known := own[string(rest[:end])]; known {
			copy(rest[end-len(id):end], id) // a UUID in place of a UUID
		}
		rest = rest[end+1:]
	}
}
