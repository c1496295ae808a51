package catalog

import "recordbridge/shared/words/org"

// OwnedClient holds a client's authentication settings and their owner.
type OwnedClient struct {
	Owner org.Tenant // owner; zero for shared settings
	Auth  ClientAuth
}

// OwnedRegistration holds a registration and its owner.
type OwnedRegistration struct {
	Owner        org.Tenant // owner; zero for a shared registration
	Registration Registration
}
