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

// The form of a summary: the magic, and for each endpoint that was ever probed, in the order of their ids, the 16 bytes
// of its id, one of its state and four of the minute it was checked in (since 1970, big-endian). It is read where it
// lies, since a search must not wait for it.
const (
	magic    = "rbhealth1\n"
	idBytes  = 16
	entry    = idBytes + 1 + 4
	sumBytes = 8
)

// states are the codes of states in a summary.
func states() []State { return []State{OK, Degraded, Down, Unknown} }

// Summary is how all endpoints of a mode fare. The zero value knows of none.
type Summary struct{ entries []byte }

// Status is how one endpoint fares, as answers tell it.
type Status struct {
	State     State     `json:"state"`
	CheckedAt time.Time `json:"checked_at,omitzero"`
}

// Summarize makes the summary of records. Those that were never probed are left out.
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

// ReadSummary reads what Bytes has written.
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

// Bytes is the summary as an object.
func (s Summary) Bytes() []byte { return append([]byte(magic), s.entries...) }

// States names what the summary says of states alone: two that differ in nothing but the times of probes have the same.
func (s Summary) States() string {
	sum := sha256.New()
	for at := 0; at < len(s.entries); at += entry {
		_, _ = sum.Write(s.entries[at : at+idBytes+1])
	}
	return hex.EncodeToString(sum.Sum(nil)[:sumBytes])
}

// Of is how an endpoint fares.
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

// Best is the best state of several endpoints, such as those of a brand: one that works is enough to connect at.
// Unknown is better than Degraded, which is better than Down; of none it is Unknown.
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

// Len is of how many endpoints the summary knows.
func (s Summary) Len() int { return len(s.entries) / entry }

// key reads a UUID in lower case with its dashes, as ids are kept.
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

// Version names a summary: when it was made (UTC) and the hash of what it holds.
func (s Summary) Version(at time.Time) string {
	sum := sha256.Sum256(s.Bytes())
	return at.UTC().Format(versionTime) + "-" + hex.EncodeToString(sum[:sumBytes])
}

// versionTime is how the time in a version is written, as in those of snapshots.
const versionTime = "20060102T150405Z"

// ParseVersion tells whether a text, such as a part of a cursor, has the form of a version: it becomes
// part of an object's name.
func ParseVersion(text string) (version string, ok bool) {
	if len(text) != len(versionTime)+1+2*sumBytes || text[len(versionTime)] != '-' {
		return "", false
	}
	_, err := time.Parse(versionTime, text[:len(versionTime)])
	_, noHex := hex.DecodeString(text[len(versionTime)+1:])
	return text, err == nil && noHex == nil
}

// ObjectName is the name of the object that holds a version of a mode's summary.
func ObjectName(mode, version string) string { return "health/" + mode + "/" + version }

// Pointer names the summary of a mode that is in use.
type Pointer struct {
	Mode    string
	Version string    // empty: there is none yet
	States  string    // Summary.States of it
	MadeAt  time.Time // when it was made
	Rev     int64
}
