package catalog

import "recordbridge/shared/words/org"

// OwnedClient holds a client's authentication settings and their owner.
type OwnedClient struct {
	Owner org.Tenant // owner; zero for shared settings
	Auth  ClientAuth
}

// OwnedRegistration is a registration with its owner.
type OwnedRegistration struct {
	Owner        org.Tenant // owner; zero for a shared registration
	Registration Registration
}
