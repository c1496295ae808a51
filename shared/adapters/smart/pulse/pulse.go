// Package pulse checks whether patients could sign in at an endpoint's server. The catalogue's periodic health checks
// use this package (docs/adr/0030-health-of-endpoints.md). The package performs the same discovery as a sign-in,
// identifies itself to the server and limits the response size. The package neither derives the endpoint's state from
// the result nor uses the discovered URLs.
package pulse

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/fhir"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/fault"
)

// maxAnswer is the maximum size of a response in bytes. A large server's CapabilityStatement, which may replace the
// discovery document, takes 2 MiB.
const maxAnswer = 4 << 20

// Prober implements rounds.Prober.
type Prober struct {
	http      smart.Doer
	platforms platform.Registry
	baseURL   string
	now       func() time.Time
}

// New returns a Prober whose requests contain the service's public base URL. The client must have the same network
// guard as in production.
func New(client smart.Doer, platforms platform.Registry, baseURL string, now func() time.Time) Prober {
	return Prober{
		http:      polite{client: client, agent: "Recordbridge (endpoint health; +" + baseURL + ")"},
		platforms: platforms, baseURL: baseURL, now: now,
	}
}

// Probe implements rounds.Prober.
func (p Prober) Probe(ctx context.Context, e health.Endpoint) health.Finding {
	found, err := smart.Discover(ctx, p.http, e.Base)
	if err != nil {
		return failed(err)
	}
	named, row := found.Addresses(), catalog.Endpoint{FHIRBase: e.Base, PlatformType: e.Platform, Mode: e.Mode}
	if len(catalog.OwnURLs(p.baseURL, row, named)) > 0 {
		return health.Finding{Cause: "leads_to_us"} // connect rejects an endpoint that resolves to the service's URLs
	}
	well := health.Finding{Token: refresh.EndpointName(found.TokenEndpoint)}
	if !found.Substitute { // the fallback contains less information than a SMART configuration
		well.DiscoveredURLs = health.DiscoveredURLs{
			EndpointID: e.ID, Mode: e.Mode, SeenAt: p.now(), Pins: catalog.PinsOf(named),
			Untrusted: named.Untrusted(e.Base, p.platforms.Of(row).Origins(e.Base)), Bundle: found.BrandBundle,
		}
	}
	return well
}

// failed classifies a failure and reports whether the server responded.
func failed(err error) health.Finding {
	class := fault.SpotOf(err).Class
	if class == "" {
		class = "unusable"
	}
	refused, answered := errors.AsType[*fhir.RequestError](err)
	return health.Finding{
		Cause:  class,
		Silent: slices.Contains([]string{string(safehttp.DNS), string(safehttp.Connect), string(safehttp.Timeout)}, class),
		Busy:   answered && refused.Class == fhir.Limited,
		Wait:   fault.Of(err).RetryAfter,
	}
}

// polite is a Doer that identifies the sender and limits the response size.
type polite struct {
	client smart.Doer
	agent  string
}

// Do implements smart.Doer.
func (p polite) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", p.agent)
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	response.Body = &short{ReadCloser: response.Body, left: maxAnswer}
	return response, nil
}

// short is a response body whose Read fails once the size limit is exceeded.
type short struct {
	io.ReadCloser

	left int64
}

// Read implements io.Reader.
func (s *short) Read(into []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := s.ReadCloser.Read(into[:min(int64(len(into)), s.left)])
	s.left -= int64(n)
	return n, err //nolint:wrapcheck // of an io.Reader
}
