package catalog

import "recordbridge/shared/words/org"

// OwnedClient is how a client of ours proves who it is, and whose it is.
type OwnedClient struct {
	Owner org.Tenant // zero: everybody's
	Auth  ClientAuth
}

// OwnedRegistration is a registration, and whose it is.
type OwnedRegistration struct {
	Owner        org.Tenant // zero: everybody's
	Registration Registration
}
