// Package smart speaks SMART App Launch as a client: an Authorizer finds a health system's authorization server and
// builds the address that the patient is sent to, a Portal gets and refreshes tokens and reads FHIR with them. It owns
// what is sent to whom, above all that a bearer token reaches nothing but the FHIR base it was issued for and the
// server that issued it. It stores nothing, retries nothing and decides no connection's fate; stores, leases and work
// plans are the domain packages', and how a client of ours proves who it is belongs to whoever implements Clients.
package smart

import "net/http"

// Doer sends one request and returns the answer whatever its status. It must not follow redirects. In production it is
// *safehttp.Client.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}
