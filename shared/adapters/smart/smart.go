// Package smart implements a SMART App Launch client. An Authorizer discovers a health system's authorization server
// and builds the authorization URL for the patient. A Portal obtains and refreshes tokens and uses them to read FHIR
// resources. The package sends data only to its intended recipients. In particular, the package sends a bearer token
// only to the server that issued it and to the FHIR base for which it was issued. The package doesn't store data, retry
// requests or change a connection's status. The domain packages are responsible for stores, leases and work plans.
package smart

import "net/http"

// Doer sends one request and returns the response, regardless of its status. A Doer must not follow redirects. In
// production, the Doer is a *safehttp.Client.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}
