package catalog

import "recordbridge/shared/words/org"

// OwnedClient is a client's authentication with its owner.
type OwnedClient struct {
	Owner org.Tenant // zero means shared
	Auth  ClientAuth
}

// OwnedRegistration is a registration with its owner.
type OwnedRegistration struct {
	Owner        org.Tenant // zero means shared
	Registration Registration
}
