// Package health defines the health of catalogue endpoints (docs/adr/0030-health-of-endpoints.md). The package defines
// each endpoint's state, with its start time and reason, and a per-mode summary for searches. The state is derived from
// a daily probe of the endpoint's discovery document and from connections' token requests. The package does not depend
// on a store, HTTP or a clock. The package stores no content from endpoints. A cause is only an error class.
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

// States of an endpoint. An endpoint is Unknown if it has not been probed, or if it has never responded and only one
// probe has failed.
const (
	OK       State = "ok"
	Degraded State = "degraded" // sign-ins or exports partly fail, or probes have begun to fail
	Down     State = "down"
	Unknown  State = "unknown"
)

// Endpoint describes an endpoint to be probed.
type Endpoint struct {
	ID       string // UUID
	Mode     string // "test" or "live"
	Base     string // absolute URL of the FHIR server
	Platform string // platform type
}

// Record is an endpoint's health as stored between probes. Before the first probe, only the ID and the mode are set.
type Record struct {
	EndpointID string
	Mode       string
	State      State     // empty means Unknown
	Since      time.Time // when the state began
	CheckedAt  time.Time // time of the last conclusive probe
	Cause      string    // class of the last failure; empty if the endpoint is not failing
	Failures   int       // consecutive failed probes
	FailingAt  time.Time // when the current series of failures began
	NextAt     time.Time // time of the next probe
	Token      string    // last discovered token endpoint, as named by Observer
	Seen       string    // Sum of the last stored DiscoveredURLs
	Rev        int64
}

// Finding is the result of one probe.
type Finding struct {
	// Cause is the class of the failure, or empty if discovery shows that patients can sign in.
	Cause string
	// Silent reports that no server responded. The cause may be DNS, the server's network or the local network.
	Silent bool
	// Busy reports that the server rate-limited the probe, which says nothing about the server's health.
	Busy bool
	// Wait is the delay that the server requested before the next probe.
	Wait time.Duration
	// Token is the token endpoint's name, as used by Observer. Token is empty if discovery returned no token endpoint.
	Token string
	// DiscoveredURLs holds the URLs that discovery returned. DiscoveredURLs is zero if there was no discovery, or if a
	// CapabilityStatement was used instead.
	DiscoveredURLs DiscoveredURLs
}

// DiscoveredURLs holds the URLs found during an endpoint's discovery. The URLs are used to publish the endpoint's row
// and are shown to operators.
type DiscoveredURLs struct {
	EndpointID string
	Mode       string
	SeenAt     time.Time
	Pins       catalog.Pins
	// Untrusted lists URLs whose origin is neither the FHIR base's nor one that the platform uses for all customers.
	// Only an operator can confirm that the listed URLs belong to the institution. If Untrusted is not empty, the
	// endpoint must not be pinned to the discovered URLs.
	Untrusted []catalog.Departure `json:"Abroad"` // part of Sum's input, so it must not be renamed
	// Bundle is the URL of the server's list of institutions, from which an operator can create a source.
	Bundle string `json:",omitempty"`
}

// Observed summarises a token endpoint's responses to requests from connections.
type Observed struct {
	Answered int  // token requests that returned a token or a definitive rejection of the grant
	Failing  bool // whether the most recent requests all failed because of the server
}

// Sum returns a hash of the discovered URLs that does not depend on the discovery time. It returns "" for the zero
// value.
func (s DiscoveredURLs) Sum() string {
	if s.EndpointID == "" {
		return ""
	}
	s.SeenAt, s.Untrusted = time.Time{}, append([]catalog.Departure{}, s.Untrusted...)
	text, _ := json.Marshal(s) //nolint:errchkjson // strings and times always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:sumBytes])
}
