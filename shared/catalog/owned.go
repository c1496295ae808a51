package catalog

import "recordbridge/shared/words/org"

// OwnedClient is a client's authentication settings together with their owner.
type OwnedClient struct {
	Owner org.Tenant // zero for shared settings
	Auth  ClientAuth
}

// OwnedRegistration is a registration together with its owner.
type OwnedRegistration struct {
	Owner        org.Tenant // zero for a shared registration
	Registration Registration
}
