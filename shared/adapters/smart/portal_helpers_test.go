package smart_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// portal returns a Portal with an empty catalogue of endpoints.
func portal(doer smart.Doer, now func() time.Time, clients smart.Clients) smart.Portal {
	return smart.NewPortal(doer, clients, uncharted{}, now)
}

// public implements Clients for public clients, which don't authenticate.
type public struct{}

func (public) Authenticate(context.Context, org.Tenant, catalog.ClientUse, url.Values, http.Header) error {
	return errors.New("nothing is at hand to authenticate with")
}

// uncharted is an empty catalogue of endpoints.
type uncharted struct{}

func (uncharted) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{}, fault.Missing("Endpoint not found.")
}
