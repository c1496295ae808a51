// Package version identifies the states of editable objects, so that an edit can require the state from which it was
// made (docs/adr/0036-the-dashboard.md).
package version

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/words/fault"
)

// size is the number of hash bytes in a version.
const size = 16

// Of returns the version of an object's editable fields, each as a list of values. Equal fields have equal versions.
func Of(fields ...[]string) string {
	hash := sha256.New()
	var buffer []byte
	for _, values := range fields {
		buffer = binary.AppendUvarint(buffer[:0], uint64(len(values)))
		for _, value := range values {
			buffer = append(binary.AppendUvarint(buffer, uint64(len(value))), value...)
		}
		_, _ = hash.Write(buffer) // never fails
	}
	return hex.EncodeToString(hash.Sum(nil)[:size])
}

// Match is an edit's condition on the object's version. The zero value accepts every version.
type Match struct {
	versions   []string
	isRequired bool
}

// Parse parses an If-Match header (RFC 9110 section 13.1.1): a list of ETags, or "*" for any version. An empty header
// also accepts every version. Weak ETags match no version. Parse returns fault.Invalid for a malformed header.
func Parse(header string) (Match, error) {
	if header = strings.Trim(header, " \t"); header == "" || header == "*" {
		return Match{}, nil
	}
	m := Match{versions: nil, isRequired: true}
	for rest := strings.TrimLeft(header, ", \t"); rest != ""; {
		tag, isWeak := strings.CutPrefix(rest, "W/")
		quoted, isQuoted := strings.CutPrefix(tag, `"`)
		opaque, after, isClosed := strings.Cut(quoted, `"`)
		after = strings.TrimLeft(after, " \t")
		if !isQuoted || !isClosed || strings.ContainsAny(opaque, " \t") || after != "" && after[0] != ',' {
			return Match{}, fault.BadRequest("If-Match must be * or a list of ETags.").About("If-Match")
		}
		if !isWeak {
			m.versions = append(m.versions, opaque)
		}
		rest = strings.TrimLeft(after, ", \t")
	}
	return m, nil
}

// Check returns fault.Conflict unless the match accepts the current version of an object. what names the object's kind.
// Check must be called with the state that the edit's conditional write replaces.
//
// The error results in status 409, not 412 as in RFC 9110 section 15.5.13, because the API's error codes include a
// conflict but no failed precondition. Unlike fault.Stale, the error is not retried.
func (m Match) Check(what, current string) error {
	if !m.isRequired || slices.Contains(m.versions, current) {
		return nil
	}
	return fault.New(fault.Conflict, fault.CodeConflict,
		fmt.Sprintf("The %s changed after you loaded it, so nothing was saved. Reload it and repeat your edit.", what))
}
