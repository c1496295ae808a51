// Package smart implements a SMART App Launch client. An Authorizer discovers a health system's authorization server
// and builds the authorization URL for the patient. A Portal obtains and refreshes tokens and uses them to read FHIR
// resources. The package ensures that data reaches only its intended recipients. In particular, the package sends a
// bearer token only to the FHIR base for which the token was issued and to the server that issued the token. The
// package doesn't store data, retry requests or change a connection's status. The domain
// packages own stores, leases and work plans.
package smart

import "net/http"

// Doer sends one request and returns the response, regardless of the response's status. A Doer must not follow
// redirects. In production, the Doer is a *safehttp.Client.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}
