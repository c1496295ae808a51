// Package ledger defines the catalogue's records outside its snapshots (docs/adr/0023-the-catalogue.md): the live
// version of a mode, the status of a publication, and the operator's overrides of the lists. It does not depend on a
// store: publishing and serving share these rows.
package ledger

import (
	"encoding/hex"
	"strings"
	"time"
)

// Version names a snapshot by its creation time (UTC) and the hash of its content, so that names sort by time and equal
// content is recognisable. An empty Version means none.
type Version string

// versionTime is the format of the time.
const versionTime = "20060102T150405Z"

// NewVersion names the snapshot with the given hash in hex.
func NewVersion(at time.Time, hash string) Version {
	return Version(at.UTC().Format(versionTime) + "-" + hash)
}

// Hash returns the hash of the snapshot's content.
func (v Version) Hash() string {
	_, hash, _ := strings.Cut(string(v), "-")
	return hash
}

// MadeAt returns the snapshot's creation time, or zero for an invalid version.
func (v Version) MadeAt() time.Time {
	at, _, _ := strings.Cut(string(v), "-")
	made, err := time.Parse(versionTime, at)
	if err != nil {
		return time.Time{}
	}
	return made
}

// ParseVersion parses a version, for example from a cursor or a command line. It becomes part of an object's name.
func ParseVersion(text string) (Version, bool) {
	v := Version(text)
	sum, err := hex.DecodeString(v.Hash())
	return v, err == nil && len(sum) == hashBytes && !v.MadeAt().IsZero() && NewVersion(v.MadeAt(), v.Hash()) == v
}

// hashBytes is the number of bytes of a SHA-256 in a version's name.
const hashBytes = 8

// Shorten returns the part of a SHA-256 that names a version, in hex.
func Shorten(sum []byte) string { return hex.EncodeToString(sum[:hashBytes]) }

// Pointer names the live version of a mode. In a new stack only Mode is set.
type Pointer struct {
	Mode    string
	Live    Version
	MovedAt time.Time
	// Kept lists the versions whose objects exist, including the live one, in the order of publication.
	Kept []Version
	Rev  int64
}

// Phase is the progress of a publication.
type Phase string

// The phases, in order. An endpoint's row is written before patients can find it, and suspended after they no longer
// can.
const (
	Writing    Phase = "writing"    // writes the snapshot's objects
	Rows       Phase = "rows"       // writes rows of endpoints that patients may connect to
	Suspending Phase = "suspending" // suspends removed endpoints, after the pointer has moved
)

// Publication is the status of a mode's publication. In a new stack only Mode is set.
type Publication struct {
	Mode     string
	From     Version // the live version when it began
	To       Version // empty: none in progress
	Phase    Phase
	Done     int // completed rows of the phase
	Question Question
	Waits    Waits  // servers outside any question; an operator allows them by host
	Approved string // the Question.ID that an operator has approved
	// Paused keeps the live version after a rollback until an operator resumes, since the lists still contain the
	// rolled-back changes.
	Paused bool
	// PinnedThrough is the time of the latest discovery used for pinning endpoints (health.DiscoveredURLs).
	PinnedThrough time.Time
	Rev           int64
}

// Question is a change that waits for an operator's decision.
type Question struct {
	ID      string    `json:"id,omitempty"` // stable while the question is unchanged; empty for none
	Asked   time.Time `json:"asked,omitzero"`
	Whole   bool      `json:"whole,omitempty"` // if set, nothing is published before the decision; else all but Held
	Because []string  `json:"because,omitempty"`
	Diff    Diff      `json:"diff,omitzero"`
	Held    []Held    `json:"held,omitempty"` // the first of them; HeldMore counts the others
	More    int       `json:"held_more,omitempty"`
}

// Waits summarises the servers in lists that wait for an operator (compose.Wait).
type Waits struct {
	ID      string    `json:"id,omitempty"`   // stable while the servers are unchanged; empty for none
	Since   time.Time `json:"since,omitzero"` // when the first of them began to wait
	Hosts   int       `json:"hosts,omitempty"`
	Servers int       `json:"servers,omitempty"`
}

// Held is an endpoint with connected patients that the publication would change.
type Held struct {
	EndpointID string `json:"endpoint_id"`
	Name       string `json:"name"`
	What       string `json:"what"` // "address" or "platform_type"
	From       string `json:"from"`
	To         string `json:"to"`
}

// Diff is the difference that a version makes, by kind of record.
type Diff struct {
	Brands    Changes `json:"brands"`
	Portals   Changes `json:"portals"`
	Endpoints Changes `json:"endpoints"`
}

// Changes counts the changes of one kind of record, with the first few names.
type Changes struct {
	Before  int      `json:"before"` // number of records without tombstones
	After   int      `json:"after"`
	Added   int      `json:"added"`
	Changed int      `json:"changed"`
	Removed int      `json:"removed"` // tombstones and merged records
	Names   []string `json:"names,omitempty"`
}

// Override is an operator's decision about the contents of lists. It outlives every import.
type Override struct {
	Kind Kind
	ID   string // id of the brand, portal or endpoint; for Platform and Refuse: the host
	// for merge: the id of the brand to merge into; for alias and name: the text; for Portal: the host; for Platform: the
	// platform
	Value string
}

// Kind is the effect of an Override.
type Kind string

// The kinds.
const (
	Hide  Kind = "hide"
	Show  Kind = "show" // even if its list hides it
	Merge Kind = "merge"
	Alias Kind = "alias" // adds one; a record may have several
	Name  Kind = "name"

	// allows a brand, or all with the id EveryBrand, to have servers at a host; a brand may have several
	Portal   Kind = "portal"
	Platform Kind = "platform" // sets the platform of a host's servers
	Refuse   Kind = "refuse"   // excludes a host's servers from the catalogue
)

// EveryBrand is the id of an Override that allows all brands to have servers at a host.
const EveryBrand = "*"
