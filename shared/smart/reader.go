package smart

import (
	"context"
	"fmt"
	"net/url"

	"recordbridge/shared/fhir"
	"recordbridge/shared/secret"
)

// Reader reads one FHIR server with a bearer token, which it sends to addresses under the base and to nothing else
// (SMART App Launch 2.2, "Access FHIR API"; fhir.md section 2.4). It asks once per call; who may try again knows how
// much time is left. It is safe for concurrent use if ReaderConfig.Token is.
type Reader struct {
	fetcher fetcher
	token   func(ctx context.Context) (secret.Text, error)
}

// ReaderConfig is what a Reader needs.
type ReaderConfig struct {
	Doer  Doer
	Base  fhir.Base
	Token func(ctx context.Context) (secret.Text, error) // asked before every request
}

// NewReader makes a Reader of the server at config.Base.
func NewReader(config ReaderConfig) *Reader {
	return &Reader{fetcher: fetcher{doer: config.Doer, base: config.Base}, token: config.Token}
}

// Metadata reads the server's CapabilityStatement as raw JSON, without a token, since servers publish it to everyone.
// Errors are those of Read.
func (r *Reader) Metadata(ctx context.Context) ([]byte, error) {
	return r.fetcher.get(ctx, r.fetcher.base.Join("metadata"), acceptFHIR, fhir.MaxPage, secret.Text{})
}

// Read reads one resource as raw JSON of at most fhir.MaxPage bytes. The error is *fhir.RequestError, or what the
// token function returned. A malformed type or id is fhir.Rejected without a request.
func (r *Reader) Read(ctx context.Context, resourceType, id string) ([]byte, error) {
	if !fhir.ValidType(resourceType) || !fhir.ValidID(id) {
		return nil, &fhir.RequestError{Class: fhir.Rejected}
	}
	return r.get(ctx, r.fetcher.base.Join(resourceType, id))
}

// Search reads the first page of a search as raw JSON. Errors are those of Read.
func (r *Reader) Search(ctx context.Context, resourceType string, params url.Values) ([]byte, error) {
	if !fhir.ValidType(resourceType) {
		return nil, &fhir.RequestError{Class: fhir.Rejected}
	}
	address := r.fetcher.base.Join(resourceType)
	if len(params) > 0 {
		address += "?" + params.Encode()
	}
	return r.get(ctx, address)
}

// Page reads the page that the next link of a Bundle names. A link that leads away from the base is fhir.ForeignLink,
// and nothing is sent. Other errors are those of Read.
func (r *Reader) Page(ctx context.Context, next string) ([]byte, error) {
	address, ok := r.fetcher.base.Resolve(next)
	if !ok {
		return nil, &fhir.RequestError{Class: fhir.ForeignLink}
	}
	return r.get(ctx, address)
}

func (r *Reader) get(ctx context.Context, address string) ([]byte, error) {
	token, err := r.token(ctx)
	if err != nil {
		return nil, fmt.Errorf("access token: %w", err)
	}
	return r.fetcher.get(ctx, address, acceptFHIR, fhir.MaxPage, token)
}
