// Package health owns what is known of how an endpoint of the catalogue fares (docs/adr/0030-health-of-endpoints.md):
// its state, since when and why, made of two witnesses, a daily probe of its discovery and the token requests of real
// connections, and the summary of a mode that searching reads. It knows no store, no HTTP and no clock. Nothing in it
// is an endpoint's content: a cause is a class.
package health

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"recordbridge/shared/catalog"
)

// State says whether patients can be sent to an endpoint now.
type State string

// The states. An endpoint that nobody has probed yet, or that failed once before it ever answered, is Unknown.
const (
	OK       State = "ok"
	Degraded State = "degraded" // some of what a sign-in or an export needs fails, or probes have begun to
	Down     State = "down"
	Unknown  State = "unknown"
)

// Endpoint is one that is to be probed.
type Endpoint struct {
	ID       string // UUID
	Mode     string // "test" or "live"
	Base     string // absolute URL of the FHIR server
	Platform string // platform type
}

// Record is what is remembered of an endpoint between its probes. One that was never probed has the zero value
// but for its id and mode.
type Record struct {
	EndpointID string
	Mode       string
	State      State     // empty: Unknown
	Since      time.Time // of the state
	CheckedAt  time.Time // of the last probe that told something
	Cause      string    // of the last failure, as a class; empty while nothing fails
	Failures   int       // probes that failed, in a row
	FailingAt  time.Time // the first of them
	NextAt     time.Time // of the next probe
	Token      string    // its token endpoint as it was last discovered, by the name that Observer has for it
	Seen       string    // Sighting.Sum of what was last handed on
	Rev        int64
}

// Finding is what came of one probe.
type Finding struct {
	// Cause is the class of what failed; empty when patients can sign in as far as discovery tells.
	Cause string
	// Silent is a failure without any answer of a server: of its name, its network, or ours.
	Silent bool
	// Busy is a server that answers that it is asked too much. It says nothing of how it fares.
	Busy bool
	// Wait is how long the server asks not to be asked again.
	Wait time.Duration
	// Token names the token endpoint for Observer; empty when nothing was discovered.
	Token string
	// Sighting is what discovery names; zero when there is none, or when a substitute stood in for it.
	Sighting Sighting
}

// Sighting is where an endpoint's discovery leads, for who publishes its row and for an operator.
type Sighting struct {
	EndpointID string
	Mode       string
	SeenAt     time.Time
	Pins       catalog.Pins
	// Abroad is what of it is neither at the origin of the FHIR base nor at one that the platform has for all: nobody but
	// an operator can say that it is the institution's. Where there is any, the pins may not be taken over.
	Abroad []catalog.Departure
	// Bundle is where its institutions publish a list of themselves, as it says; for an operator to make a source of.
	Bundle string `json:",omitempty"`
}

// Observed is what real connections have met at an endpoint's token endpoint.
type Observed struct {
	Answered int  // token requests that got a token, or a definite refusal of a grant
	Failing  bool // the last several, in a row, met trouble of the server's
}

// Sum names what a sighting says, but for when it was; empty for the zero value.
func (s Sighting) Sum() string {
	if s.EndpointID == "" {
		return ""
	}
	s.SeenAt, s.Abroad = time.Time{}, append([]catalog.Departure{}, s.Abroad...)
	text, _ := json.Marshal(s) //nolint:errchkjson // strings and times always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:sumBytes])
}
