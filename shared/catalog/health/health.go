// Package health defines the health of the catalogue's endpoints (docs/adr/0030-health-of-endpoints.md): an endpoint's
// state with its start and cause, and a mode's summary for searches. The state is derived from two sources, a daily
// probe of the endpoint's discovery and the token requests of real connections. The package does not depend on a store,
// HTTP or a clock. It holds no content of an endpoint: a cause is a class.
package health

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"recordbridge/shared/catalog"
)

// State indicates whether patients can be sent to an endpoint now.
type State string

// The states. An endpoint is Unknown if it was not probed yet, or failed once and never responded before.
const (
	OK       State = "ok"
	Degraded State = "degraded" // part of a sign-in or an export fails, or probes have begun to fail
	Down     State = "down"
	Unknown  State = "unknown"
)

// Endpoint is an endpoint to probe.
type Endpoint struct {
	ID       string // UUID
	Mode     string // "test" or "live"
	Base     string // absolute URL of the FHIR server
	Platform string // platform type
}

// Record is the stored health of an endpoint between its probes. For one that was never probed, only id and mode are
// set.
type Record struct {
	EndpointID string
	Mode       string
	State      State     // empty means Unknown
	Since      time.Time // start of the state
	CheckedAt  time.Time // time of the last conclusive probe
	Cause      string    // class of the last failure; empty while nothing fails
	Failures   int       // consecutive failed probes
	FailingAt  time.Time // time of the first of these failures
	NextAt     time.Time // time of the next probe
	Token      string    // the last discovered token endpoint, by its name for Observer
	Seen       string    // DiscoveredURLs.Sum of the last one stored
	Rev        int64
}

// Finding is the result of one probe.
type Finding struct {
	// Cause is the class of the failure. It is empty if, judging by the discovery, patients can sign in.
	Cause string
	// Silent reports a failure without any response from a server: of its name, its network, or ours.
	Silent bool
	// Busy reports a server's rate limiting, which indicates nothing about its health.
	Busy bool
	// Wait is the delay that the server requests.
	Wait time.Duration
	// Token names the token endpoint for Observer. It is empty if nothing was discovered.
	Token string
	// DiscoveredURLs contains the URLs in the discovery. It is zero if there was none, or if a substitute replaced it.
	DiscoveredURLs DiscoveredURLs
}

// DiscoveredURLs holds the URLs of an endpoint's discovery, for the publication of its row and for an operator.
type DiscoveredURLs struct {
	EndpointID string
	Mode       string
	SeenAt     time.Time
	Pins       catalog.Pins
	// Untrusted lists the URLs that are neither at the origin of the FHIR base nor at one that the platform uses for all
	// customers. Only an operator can confirm that they belong to the institution. If there are any, the pins may not be
	// adopted.
	Untrusted []catalog.Departure `json:"Abroad"` // named so in Sum
	// Bundle is the URL of a list of its institutions, from which an operator can create a source.
	Bundle string `json:",omitempty"`
}

// Observed summarises the results of real connections at an endpoint's token endpoint.
type Observed struct {
	Answered int  // token requests that got a token or a definite refusal of a grant
	Failing  bool // the last several consecutive requests met a failure of the server
}

// Sum identifies the content of discovered URLs, without its time. It is empty for the zero value.
func (s DiscoveredURLs) Sum() string {
	if s.EndpointID == "" {
		return ""
	}
	s.SeenAt, s.Untrusted = time.Time{}, append([]catalog.Departure{}, s.Untrusted...)
	text, _ := json.Marshal(s) //nolint:errchkjson // strings and times always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:sumBytes])
}
