// Package ledger defines the catalogue records that are not part of a snapshot (docs/adr/0023-the-catalogue.md): each
// mode's live version, a publication's status, and the operator's overrides. The package does not depend on a store.
// The packages that publish and serve the catalogue share these records.
package ledger

import (
	"encoding/hex"
	"strings"
	"time"
)

// Version is a snapshot's name. The name consists of the creation time (UTC) and a hash of the content, so names sort
// by time and identify snapshots with equal content. An empty Version means that there is no snapshot.
type Version string

const versionTime = "20060102T150405Z"

// NewVersion returns the name for a snapshot with the given creation time and hash (in hex).
func NewVersion(at time.Time, hash string) Version {
	return Version(at.UTC().Format(versionTime) + "-" + hash)
}

// Hash returns the hash of the snapshot's content.
func (v Version) Hash() string {
	_, hash, _ := strings.Cut(string(v), "-")
	return hash
}

// MadeAt returns the snapshot's creation time, or the zero time if the version is invalid.
func (v Version) MadeAt() time.Time {
	at, _, _ := strings.Cut(string(v), "-")
	made, err := time.Parse(versionTime, at)
	if err != nil {
		return time.Time{}
	}
	return made
}

// ParseVersion parses a version, for example from a cursor or a command line. Callers must parse untrusted versions,
// because a version becomes part of an object's name.
func ParseVersion(text string) (Version, bool) {
	v := Version(text)
	sum, err := hex.DecodeString(v.Hash())
	return v, err == nil && len(sum) == hashBytes && !v.MadeAt().IsZero() && NewVersion(v.MadeAt(), v.Hash()) == v
}

// hashBytes is the number of SHA-256 hash bytes in a version.
const hashBytes = 8

// Shorten returns the prefix of a SHA-256 hash that a version contains, in hex.
func Shorten(sum []byte) string { return hex.EncodeToString(sum[:hashBytes]) }

// Pointer identifies a mode's live version. In a new stack, only Mode is set.
type Pointer struct {
	Mode    string
	Live    Version
	MovedAt time.Time
	// Kept lists the versions whose objects exist, including the live version, in publication order.
	Kept []Version
	Rev  int64
}

// Phase is a publication's progress.
type Phase string

// Phases, in order. Rows are written before patients can find the endpoints, and suspended only after patients can no
// longer find them.
const (
	Writing    Phase = "writing"    // writing the snapshot's objects
	Rows       Phase = "rows"       // writing the rows of the endpoints that patients can use
	Suspending Phase = "suspending" // suspending removed endpoints, after the pointer has moved
)

// Publication is the status of a mode's publication. In a new stack, only Mode is set.
type Publication struct {
	Mode     string
	From     Version // live version when the publication started
	To       Version // version to publish; empty if no publication is in progress
	Phase    Phase
	Done     int // number of rows completed in this phase
	Question Question
	Waits    Waits  // servers whose hosts await an operator's approval, whether or not Question is set
	Approved string // ID of the Question that an operator has approved
	// Paused prevents publications after a rollback until an operator resumes publishing. Without the pause, the next
	// publication would repeat the changes that were rolled back, because the lists still contain them.
	Paused bool
	// PinnedThrough is the time of the latest discovery used to pin endpoints (health.DiscoveredURLs).
	PinnedThrough time.Time
	Rev           int64
}

// Question is a change that requires an operator's decision.
type Question struct {
	ID      string    `json:"id,omitempty"` // changes only if the question changes; empty if there is no question
	Asked   time.Time `json:"asked,omitzero"`
	Whole   bool      `json:"whole,omitempty"` // whether the entire publication, not only Held, awaits the decision
	Because []string  `json:"because,omitempty"`
	Diff    Diff      `json:"diff,omitzero"`
	Held    []Held    `json:"held,omitempty"` // the first few endpoints; More counts the others
	More    int       `json:"held_more,omitempty"`
}

// Waits summarises the listed servers that await an operator's approval (compose.Wait).
type Waits struct {
	ID      string    `json:"id,omitempty"`   // changes only with the waiting servers; empty if there are none
	Since   time.Time `json:"since,omitzero"` // time at which the first server started to wait
	Hosts   int       `json:"hosts,omitempty"`
	Servers int       `json:"servers,omitempty"`
}

// Held is an endpoint with connected patients that the publication would change.
type Held struct {
	EndpointID string `json:"endpoint_id"`
	Name       string `json:"name"`
	What       string `json:"what"` // kind of change: "address" or "platform_type"
	From       string `json:"from"`
	To         string `json:"to"`
}

// Diff describes the changes in a version, by record type.
type Diff struct {
	Brands    Changes `json:"brands"`
	Portals   Changes `json:"portals"`
	Endpoints Changes `json:"endpoints"`
}

// Changes counts the changes to records of one type and names the first few changed records.
type Changes struct {
	Before  int      `json:"before"` // number of records, excluding tombstones
	After   int      `json:"after"`
	Added   int      `json:"added"`
	Changed int      `json:"changed"`
	Removed int      `json:"removed"` // number of tombstones and merged records
	Names   []string `json:"names,omitempty"`
}

// Override is an operator's decision about list contents. An override applies to every later import.
type Override struct {
	Kind Kind
	ID   string // ID of the brand, portal or endpoint, or the host for Platform and Refuse
	// depends on Kind: successor's ID (Merge), text (Alias, Name), host (Portal) or platform (Platform)
	Value string
}

// Kind is the effect of an Override.
type Kind string

// Kinds of overrides.
const (
	Hide  Kind = "hide"
	Show  Kind = "show" // shows a record even if its list hides it
	Merge Kind = "merge"
	Alias Kind = "alias" // adds an alias; a record may have several aliases
	Name  Kind = "name"

	// allows a brand (or, with EveryBrand, all brands) to have servers at a host; repeatable
	Portal   Kind = "portal"
	Platform Kind = "platform" // sets the platform of the servers at a host
	Refuse   Kind = "refuse"   // excludes the servers at a host from the catalogue
)

// EveryBrand is the ID of an Override that allows all brands to have servers at a host.
const EveryBrand = "*"
