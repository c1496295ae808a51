// Package ledger owns what is written down of the catalogue beside its snapshots (docs/adr/0023-the-catalogue.md):
// which version of a mode is live, how a publication stands, and what an operator has said against the lists. It knows
// no store: these are the rows that publishing and serving agree on.
package ledger

import (
	"encoding/hex"
	"strings"
	"time"
)

// Version names a snapshot: when it was made (UTC) and the hash of what it holds, so that names sort by time and equal
// content can be told. Empty: none.
type Version string

// versionTime is how the time is written.
const versionTime = "20060102T150405Z"

// NewVersion names the snapshot with a hash, in hex.
func NewVersion(at time.Time, hash string) Version {
	return Version(at.UTC().Format(versionTime) + "-" + hash)
}

// Hash is the hash of its content.
func (v Version) Hash() string {
	_, hash, _ := strings.Cut(string(v), "-")
	return hash
}

// MadeAt is when it was made; zero for what is no version.
func (v Version) MadeAt() time.Time {
	at, _, _ := strings.Cut(string(v), "-")
	made, err := time.Parse(versionTime, at)
	if err != nil {
		return time.Time{}
	}
	return made
}

// ParseVersion reads a version, as of a cursor or a command line: it becomes part of an object's name.
func ParseVersion(text string) (Version, bool) {
	v := Version(text)
	sum, err := hex.DecodeString(v.Hash())
	return v, err == nil && len(sum) == hashBytes && !v.MadeAt().IsZero() && NewVersion(v.MadeAt(), v.Hash()) == v
}

// hashBytes is how much of a SHA-256 names a version.
const hashBytes = 8

// Shorten is the part of a SHA-256 that names a version, in hex.
func Shorten(sum []byte) string { return hex.EncodeToString(sum[:hashBytes]) }

// Pointer says which version of a mode is live. A new stack has the zero value but for Mode.
type Pointer struct {
	Mode    string
	Live    Version
	MovedAt time.Time
	// Kept are the versions whose objects are there, the live one too, in the order of their publication, the latest last.
	Kept []Version
	Rev  int64
}

// Phase is how far a publication has come.
type Phase string

// The phases, in their order. An endpoint's row is there before patients find it, and suspended
// after they no longer do.
const (
	Writing    Phase = "writing"    // the snapshot's objects
	Rows       Phase = "rows"       // of endpoints that patients may connect to
	Suspending Phase = "suspending" // endpoints that have gone; the pointer has moved
)

// Publication is how publishing one mode stands. A new stack has the zero value but for Mode.
type Publication struct {
	Mode     string
	From     Version // that was live when it began
	To       Version // empty: nothing is under way
	Phase    Phase
	Done     int // rows of the phase that are done
	Question Question
	Waits    Waits  // what lists say and no question is about: it is let in by host
	Approved string // the Question.ID that an operator has said yes to
	// Paused keeps what is live as it is after a rollback, until an operator resumes: the lists still
	// say what was taken back.
	Paused bool
	// Sighted is when the latest sighting was made that endpoints were pinned by (health.Sighting).
	Sighted time.Time
	Rev     int64
}

// Question is what waits for an operator.
type Question struct {
	ID      string    `json:"id,omitempty"` // the same for as long as the same is asked; empty for none
	Asked   time.Time `json:"asked,omitzero"`
	Whole   bool      `json:"whole,omitempty"` // nothing is published before the answer; else all but Held is
	Because []string  `json:"because,omitempty"`
	Diff    Diff      `json:"diff,omitzero"`
	Held    []Held    `json:"held,omitempty"` // the first of them; HeldMore are the others
	More    int       `json:"held_more,omitempty"`
}

// Waits are servers that lists have and that wait for an operator (compose.Wait).
type Waits struct {
	ID      string    `json:"id,omitempty"`   // the same for as long as the same waits; empty for nothing
	Since   time.Time `json:"since,omitzero"` // when anything began to wait
	Hosts   int       `json:"hosts,omitempty"`
	Servers int       `json:"servers,omitempty"`
}

// Held is an endpoint that patients are connected at and that would become another one.
type Held struct {
	EndpointID string `json:"endpoint_id"`
	Name       string `json:"name"`
	What       string `json:"what"` // "address" or "platform_type"
	From       string `json:"from"`
	To         string `json:"to"`
}

// Diff is what a version changes, by kind of record.
type Diff struct {
	Brands    Changes `json:"brands"`
	Portals   Changes `json:"portals"`
	Endpoints Changes `json:"endpoints"`
}

// Changes are those of one kind of record. Of names it has the first few.
type Changes struct {
	Before  int      `json:"before"` // without tombstones
	After   int      `json:"after"`
	Added   int      `json:"added"`
	Changed int      `json:"changed"`
	Removed int      `json:"removed"` // tombstones, and what was merged
	Names   []string `json:"names,omitempty"`
}

// Override is an operator's decision about what lists contain. It outlives every import.
type Override struct {
	Kind Kind
	ID   string // of the brand, portal or endpoint it is about; of Platform and Refuse: the host
	// of merge: the id that it is merged into; of alias and name: the text; of Portal: the host; of Platform: the platform
	Value string
}

// Kind is what an Override does.
type Kind string

// The kinds.
const (
	Hide  Kind = "hide"
	Show  Kind = "show" // although its list hides it
	Merge Kind = "merge"
	Alias Kind = "alias" // one more; a record has as many as were said
	Name  Kind = "name"

	// a brand, or with the id EveryBrand all, may have servers at a host; a brand has as many as were said
	Portal   Kind = "portal"
	Platform Kind = "platform" // of a host's servers
	Refuse   Kind = "refuse"   // no server at a host is in the catalogue
)

// EveryBrand is the id of an Override that lets all brands have servers at a host.
const EveryBrand = "*"
