// Package smart is a SMART App Launch client. An Authorizer finds a health system's authorization server and builds the
// authorization URL for the patient. A Portal gets and refreshes tokens and reads FHIR with them. The package controls
// every recipient of data. Above all, a bearer token is sent only to the FHIR base it was issued for and to the server
// that issued it. It stores nothing, retries nothing and does not change a connection's status. The domain packages own
// stores, leases and work plans, and an implementation of Clients authenticates our clients.
package smart

import "net/http"

// Doer sends one request and returns the response, whatever its status. It must not follow redirects. In production it
// is *safehttp.Client.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}
