package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"recordbridge/shared/words/org"
)

// Keyed creates a JSON endpoint for an organisation's backend. The endpoint authenticates callers with HTTP Basic and
// does not support CORS. In is bound according to its tags (see binder). The success envelope's data member contains
// Out.
func Keyed[In, Out any](auth KeyAuth, f func(context.Context, org.Caller, In) (Out, error)) Endpoint {
	return Endpoint{serve: serveJSON(auth.caller, f), fail: failKeyed}
}

// KeyOptional creates a JSON endpoint that accepts either the caller's key or a token in the URL. f must return
// fault.Unauthenticated if neither the key nor the token is valid.
func KeyOptional[In, Out any](auth KeyAuth, f func(context.Context, OptionalKey, In) (Out, error)) Endpoint {
	return Endpoint{serve: serveJSON(auth.optional, f), fail: failKeyed}
}

// Browser creates a JSON endpoint for web pages. The query parameter public_id identifies the organisation, and the
// organisation's registered origins determine CORS. A 401 response doesn't contain a challenge, so that browsers don't
// show a password prompt.
func Browser[In, Out any](auth PublicAuth, f func(context.Context, org.Caller, In) (Out, error)) Endpoint {
	return Endpoint{serve: serveJSON(auth.caller, f), fail: failJSON, public: auth.Public}
}

// serveJSON identifies the caller, binds the request and calls f, in that order.
func serveJSON[Who, In, Out any](know func(context.Context, *call) (Who, error),
	f func(context.Context, Who, In) (Out, error),
) serving {
	bind := newBinder[In]()
	return func(ctx context.Context, c *call) (reply, error) {
		caller, err := know(ctx, c)
		if err != nil {
			return reply{}, err
		}
		in, err := bind.read(c)
		if err != nil {
			return reply{}, err
		}
		out, err := f(ctx, caller, in)
		return succeed(c, out, err)
	}
}

// RedirectResult is the Out type of a JSON endpoint that responds with a redirect (302) instead of an envelope.
type RedirectResult struct {
	Location string
}

// NoData is the Out type of a JSON endpoint that returns no data. The success envelope contains no data.
type NoData struct{}

// Versioned is embedded in an Out type that shows one editable object, and in the entries of a list of such objects.
// The version of a single object is also the response's ETag. The version covers only the editable fields, because its
// purpose is If-Match.
type Versioned struct {
	Version string `json:"version"`
}

func (v Versioned) entityTag() string { return `"` + v.Version + `"` }

type successEnvelope struct {
	Success bool `json:"success"`
	Data    any  `json:"data,omitempty"` // omitted only if nil, because endpoints return structs
}

// succeed renders the result of f. The envelope is first encoded into a buffer, so that an encoding failure becomes an
// error instead of a partial response.
func succeed(c *call, data any, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	if found, ok := data.(RedirectResult); ok {
		c.header.Set("Location", found.Location)
		return reply{status: http.StatusFound}, nil
	}
	if carrier, ok := data.(WithCookies); ok {
		for _, cookie := range carrier.Cookies {
			c.header.Add("Set-Cookie", cookie.String())
		}
		data = carrier.Data
	}
	if object, ok := data.(interface{ entityTag() string }); ok {
		c.header.Set("ETag", object.entityTag())
	}
	if _, ok := data.(NoData); ok {
		data = nil
	}
	body, err := encode(successEnvelope{Success: true, Data: data})
	if err != nil {
		return reply{}, err
	}
	c.header.Set("Content-Type", "application/json")
	return reply{status: http.StatusOK, body: body}, nil
}

func encode(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false) // keeps URLs readable; the content type and nosniff prevent parsing as HTML
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	return buffer.Bytes(), nil
}
