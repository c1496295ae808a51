package health

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"
)

// Format of a summary: the magic bytes, followed by one entry, ordered by ID, for each endpoint that was ever probed.
// An entry consists of the ID (16 bytes), the state (one byte) and the minute of the last check (four bytes, since
// 1970, big-endian). A summary is read in place so that a search doesn't have to wait for decoding.
const (
	magic    = "rbhealth1\n"
	idBytes  = 16
	entry    = idBytes + 1 + 4
	sumBytes = 8
)

// states returns the states in the order of their summary codes.
func states() []State { return []State{OK, Degraded, Down, Unknown} }

// Summary holds the health of a mode's endpoints. The zero value is an empty summary.
type Summary struct{ entries []byte }

// Status is an endpoint's health, as shown in responses.
type Status struct {
	State     State     `json:"state"`
	CheckedAt time.Time `json:"checked_at,omitzero"`
}

// Summarize creates a summary from records, omitting endpoints that were never probed.
func Summarize(records []Record) Summary {
	records = slices.Clone(records)
	slices.SortFunc(records, func(x, y Record) int { return cmp.Compare(x.EndpointID, y.EndpointID) })
	entries := make([]byte, 0, len(records)*entry)
	for _, r := range records {
		id, ok := key(r.EndpointID)
		if !ok || r.CheckedAt.IsZero() {
			continue
		}
		entries = append(entries, id[:]...)
		//nolint:gosec // one of four
		entries = append(entries, byte(slices.Index(states(), r.state())))
		//nolint:gosec // until the year 10136
		entries = binary.BigEndian.AppendUint32(entries, uint32(r.CheckedAt.Unix()/secondsOfAMinute))
	}
	return Summary{entries: entries}
}

const secondsOfAMinute = 60

// ReadSummary parses a summary encoded by Bytes.
func ReadSummary(document []byte) (Summary, error) {
	entries, ok := bytes.CutPrefix(document, []byte(magic))
	if !ok || len(entries)%entry != 0 {
		return Summary{}, errors.New("not a summary of health")
	}
	for at := 0; at < len(entries); at += entry {
		if int(entries[at+idBytes]) >= len(states()) || at > 0 &&
			bytes.Compare(entries[at-entry:at-entry+idBytes], entries[at:at+idBytes]) >= 0 {
			return Summary{}, errors.New("damaged summary of health")
		}
	}
	return Summary{entries: entries}, nil
}

// Bytes encodes the summary for storage as an object.
func (s Summary) Bytes() []byte { return append([]byte(magic), s.entries...) }

// States returns a fingerprint of the summary's states. Two summaries that differ only in probe times have the same
// fingerprint.
func (s Summary) States() string {
	sum := sha256.New()
	for at := 0; at < len(s.entries); at += entry {
		_, _ = sum.Write(s.entries[at : at+idBytes+1])
	}
	return hex.EncodeToString(sum.Sum(nil)[:sumBytes])
}

// Of returns an endpoint's status.
func (s Summary) Of(endpointID string) Status {
	id, ok := key(endpointID)
	if !ok {
		return Status{State: Unknown}
	}
	count := len(s.entries) / entry
	n := sort.Search(count, func(n int) bool { return bytes.Compare(s.entries[n*entry:n*entry+idBytes], id[:]) >= 0 })
	if n == count || !bytes.Equal(s.entries[n*entry:n*entry+idBytes], id[:]) {
		return Status{State: Unknown}
	}
	found := s.entries[n*entry+idBytes : (n+1)*entry]
	minute := int64(binary.BigEndian.Uint32(found[1:]))
	return Status{State: states()[found[0]], CheckedAt: time.Unix(minute*secondsOfAMinute, 0).UTC()}
}

// Best returns the best state among several endpoints, such as a brand's endpoints. A single working endpoint is enough
// to connect. Unknown is better than Degraded, which is better than Down. If the list is empty, Best returns Unknown.
func (s Summary) Best(endpointIDs []string) State {
	best := Down
	order := []State{OK, Unknown, Degraded, Down}
	for _, id := range endpointIDs {
		if state := s.Of(id).State; slices.Index(order, state) < slices.Index(order, best) {
			best = state
		}
	}
	if len(endpointIDs) == 0 {
		return Unknown
	}
	return best
}

// Len returns the number of endpoints in the summary.
func (s Summary) Len() int { return len(s.entries) / entry }

// key parses a lowercase UUID with dashes, the form of stored IDs.
func key(id string) (parsed [idBytes]byte, ok bool) {
	digits := make([]byte, 0, 2*idBytes)
	for i, part := range strings.SplitN(id, "-", 5) {
		if len(part) != [...]int{8, 4, 4, 4, 12}[i] {
			return parsed, false
		}
		digits = append(digits, part...)
	}
	if len(digits) != 2*idBytes {
		return parsed, false
	}
	_, err := hex.Decode(parsed[:], digits)
	return parsed, err == nil
}

// Version returns a summary's version name, which consists of the creation time (UTC) and a hash of the content.
func (s Summary) Version(at time.Time) string {
	sum := sha256.Sum256(s.Bytes())
	return at.UTC().Format(versionTime) + "-" + hex.EncodeToString(sum[:sumBytes])
}

// versionTime is the layout of the time in a version. Snapshot versions use the same layout.
const versionTime = "20060102T150405Z"

// ParseVersion reports whether a string, such as part of a cursor, is a well-formed version. Callers must check
// untrusted versions, because a version becomes part of an object's name.
func ParseVersion(text string) (version string, ok bool) {
	if len(text) != len(versionTime)+1+2*sumBytes || text[len(versionTime)] != '-' {
		return "", false
	}
	_, err := time.Parse(versionTime, text[:len(versionTime)])
	_, noHex := hex.DecodeString(text[len(versionTime)+1:])
	return text, err == nil && noHex == nil
}

// ObjectName returns the name of the object that stores a version of a mode's summary.
func ObjectName(mode, version string) string { return "health/" + mode + "/" + version }

// Pointer identifies a mode's current summary.
type Pointer struct {
	Mode    string
	Version string    // current version; empty if the mode has no summary
	States  string    // result of Summary.States
	MadeAt  time.Time // creation time of the summary
	Rev     int64
}
