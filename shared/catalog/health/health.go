// Package health defines the health of catalogue endpoints (docs/adr/0030-health-of-endpoints.md). The package defines
// each endpoint's state, the state's start and cause, and a per-mode summary for searches. The state is derived from
// two sources: a daily probe of the endpoint's discovery, and the token requests of real connections. The package does
// not depend on a store, HTTP or a clock. The package doesn't store any content from an endpoint; a cause is only an
// error class.
package health

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"recordbridge/shared/catalog"
)

// State indicates whether patients can currently be sent to an endpoint.
type State string

// States of an endpoint. An endpoint is Unknown if it has not been probed, or if it has never responded and has failed
// only once.
const (
	OK       State = "ok"
	Degraded State = "degraded" // part of a sign-in or export fails, or probes have started to fail
	Down     State = "down"
	Unknown  State = "unknown"
)

// Endpoint is an endpoint to probe.
type Endpoint struct {
	ID       string // UUID
	Mode     string // mode: "test" or "live"
	Base     string // absolute URL of the FHIR server
	Platform string // platform type
}

// Record is an endpoint's health as stored between probes. If the endpoint has never been probed, only the ID and the
// mode are set.
type Record struct {
	EndpointID string
	Mode       string
	State      State     // current state; Unknown if empty
	Since      time.Time // start of the state
	CheckedAt  time.Time // time of the last conclusive probe
	Cause      string    // class of the last failure; empty if the endpoint isn't failing
	Failures   int       // consecutive failed probes
	FailingAt  time.Time // time of the first consecutive failure
	NextAt     time.Time // time of the next probe
	Token      string    // name of the last discovered token endpoint, for Observer
	Seen       string    // DiscoveredURLs.Sum of the last stored URLs
	Rev        int64
}

// Finding is the result of one probe.
type Finding struct {
	// Cause is the class of the failure, or empty if the discovery shows that patients can sign in.
	Cause string
	// Silent reports that no server responded. Possible causes are DNS, the server's network and our own network.
	Silent bool
	// Busy reports that the server limited the request rate. A rate limit doesn't indicate anything about the server's
	// health.
	Busy bool
	// Wait is the delay that the server requested.
	Wait time.Duration
	// Token is the token endpoint's name for Observer, or empty if the discovery did not return a token endpoint.
	Token string
	// DiscoveredURLs contains the URLs in the discovery. DiscoveredURLs is zero if there was no discovery, or if a
	// CapabilityStatement was used instead.
	DiscoveredURLs DiscoveredURLs
}

// DiscoveredURLs holds the URLs found during an endpoint's discovery. The URLs are used to publish the endpoint's row
// and are shown to an operator.
type DiscoveredURLs struct {
	EndpointID string
	Mode       string
	SeenAt     time.Time
	Pins       catalog.Pins
	// Untrusted lists the URLs with an unexpected origin. The expected origins are the FHIR base's origin and the
	// origins that the platform uses for all customers. Only an operator can confirm that the listed URLs belong to the
	// institution. If Untrusted is not empty, the endpoint must not be pinned to the discovered URLs.
	Untrusted []catalog.Departure `json:"Abroad"` // Sum's hash includes the name Abroad
	// Bundle is the URL of a list of the server's institutions. An operator can create a source from the list.
	Bundle string `json:",omitempty"`
}

// Observed summarises the responses of an endpoint's token endpoint to real connections.
type Observed struct {
	Answered int  // token requests that returned a token or definitely rejected a grant
	Failing  bool // whether the most recent requests all failed because of the server
}

// Sum returns a hash that identifies the discovered URLs. The hash does not depend on the discovery time, and it is
// empty for the zero value.
func (s DiscoveredURLs) Sum() string {
	if s.EndpointID == "" {
		return ""
	}
	s.SeenAt, s.Untrusted = time.Time{}, append([]catalog.Departure{}, s.Untrusted...)
	text, _ := json.Marshal(s) //nolint:errchkjson // strings and times always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:sumBytes])
}
