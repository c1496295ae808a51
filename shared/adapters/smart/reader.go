package smart

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"recordbridge/shared/fhir"
	"recordbridge/shared/words/secret"
)

// reader reads from one FHIR server with a bearer token, which it sends only to URLs under the base (SMART App Launch
// 2.2, "Access FHIR API"). Each method call makes one request to the server. Retries are the callers' responsibility
// because only they know how much time remains. reader calls the token function before every request. It implements
// source.Server, and is safe for concurrent use if the token function is.
type reader struct {
	fetcher fetcher
	token   func(ctx context.Context) (secret.Text, error)
}

// Metadata reads the server's CapabilityStatement, up to fhir.MaxPage bytes. Metadata doesn't send a token, because the
// document is public. The errors are the same as for Read.
func (r *reader) Metadata(ctx context.Context) (fhir.Response, error) {
	return r.fetcher.document(ctx, r.fetcher.base.Join("metadata"), acceptFHIR, fhir.MaxPage, secret.Text{})
}

// Read reads one resource as raw JSON. It reads up to limit bytes after decompression, and never more than
// fhir.MaxPage. The error is a *fhir.RequestError or comes from the token function. For a malformed type or ID, Read
// returns fhir.Rejected without sending a request.
func (r *reader) Read(ctx context.Context, resourceType, id string, limit int64) (fhir.Response, error) {
	if !fhir.ValidType(resourceType) || !fhir.ValidID(id) {
		return fhir.Response{}, &fhir.RequestError{Class: fhir.Rejected}
	}
	return r.get(ctx, r.fetcher.base.Join(resourceType, id), limit)
}

// Search reads the first page of a search as raw JSON. path is relative to the base, and is either a type or a path
// below one resource, such as "Patient/p1/$everything". The limit and errors are the same as for Read.
func (r *reader) Search(ctx context.Context, path string, params url.Values, limit int64) (fhir.Response, error) {
	segments := strings.Split(path, "/")
	if !searchable(segments) {
		return fhir.Response{}, &fhir.RequestError{Class: fhir.Rejected}
	}
	address := r.fetcher.base.Join(segments...)
	if len(params) > 0 {
		address += "?" + params.Encode()
	}
	return r.get(ctx, address, limit)
}

// Batch sends a batch of searches, as encoded by fhir.Batch, in one request. The limit and errors are the same as for
// Read.
func (r *reader) Batch(ctx context.Context, batch []byte, limit int64) (fhir.Response, error) {
	token, err := r.bearer(ctx)
	if err != nil {
		return fhir.Response{}, err
	}
	return r.fetcher.batch(ctx, batch, max(0, min(limit, fhir.MaxPage)), token)
}

// Page reads the page at a Bundle's next link. For a link outside the base, Page returns fhir.ForeignLink without
// sending a request. The limit and other errors are the same as those of Read.
func (r *reader) Page(ctx context.Context, next string, limit int64) (fhir.Response, error) {
	address, ok := r.fetcher.base.Resolve(next)
	if !ok {
		return fhir.Response{}, &fhir.RequestError{Class: fhir.ForeignLink}
	}
	return r.get(ctx, address, limit)
}

// Attachment opens the content at an attachment's URL, which may be absolute or relative to the base. The content may
// have any media type. Reading more than limit bytes (after decompression) from the content's Body fails with
// fhir.TooLarge. Reading truncated content fails with fhir.Network. For a URL outside the base, Attachment returns
// fhir.ForeignLink without sending a request. Other errors are the same as those of Read. The caller must close the
// Body and must not cancel ctx before closing it.
func (r *reader) Attachment(ctx context.Context, address string, limit int64) (fhir.File, error) {
	address, ok := r.fetcher.base.Resolve(address)
	if !ok {
		return fhir.File{}, &fhir.RequestError{Class: fhir.ForeignLink}
	}
	token, err := r.bearer(ctx)
	if err != nil {
		return fhir.File{}, err
	}
	response, err := r.fetcher.open(ctx, address, "*/*", token) //nolint:bodyclose // the caller closes the File
	if err != nil {
		return fhir.File{}, err
	}
	return file(response, limit), nil
}

func (r *reader) get(ctx context.Context, address string, limit int64) (fhir.Response, error) {
	token, err := r.bearer(ctx)
	if err != nil {
		return fhir.Response{}, err
	}
	return r.fetcher.document(ctx, address, acceptFHIR, max(0, min(limit, fhir.MaxPage)), token)
}

func (r *reader) bearer(ctx context.Context) (secret.Text, error) {
	token, err := r.token(ctx)
	if err != nil {
		return secret.Text{}, fmt.Errorf("access token: %w", err)
	}
	return token, nil
}

// searchable reports whether the path segments name a type, a resource, or an operation on either.
func searchable(segments []string) bool {
	if len(segments) > 3 || !fhir.ValidType(segments[0]) {
		return false
	}
	for i, segment := range segments[1:] {
		last := i == len(segments)-2
		if !fhir.ValidID(segment) && (!last || segment != "$everything") {
			return false
		}
	}
	return true
}
