package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/weburl"
)

// KeyAuthenticator checks a key pair. publicID is any text from the client: a prefixed id, a bare UUID or garbage. If
// the pair is wrong for any reason, the error is fault.Unauthenticated, NotFound or Invalid, which all produce the same
// response. Any other error is an internal failure.
type KeyAuthenticator interface {
	Authenticate(ctx context.Context, publicID string, privateKey secret.Text) (org.Caller, error)
}

// PublicFinder finds the organisation of a public id, prefixed or bare. If the id is malformed, unknown or revoked, the
// error is fault.Unauthenticated, NotFound or Invalid. Any other error is an internal failure.
type PublicFinder interface {
	ByPublicID(ctx context.Context, publicID string) (org.Caller, error)
}

// KeyAuth authenticates and rate-limits the callers of a Keyed endpoint.
type KeyAuth struct {
	Keys    KeyAuthenticator
	Limiter Limiter
}

// PublicAuth identifies and rate-limits the organisation of a Browser or PublicPage endpoint.
type PublicAuth struct {
	Public  PublicFinder
	Limiter Limiter
	Own     weburl.Own // URLs to which no PublicPage redirects
	Alias   string     // another name of public_id, from clients of the same contract; may be empty
}

// caller checks the Basic credentials. Every failure is the same 401, regardless of the part that was wrong, and counts
// against the client address, so that guessing is rate-limited as well.
func (a KeyAuth) caller(ctx context.Context, c *call) (org.Caller, error) {
	caller, err := a.prove(ctx, c)
	return admit(ctx, c, a.Limiter, caller, refusedKey(err))
}

// refusedKey replaces every error about a wrong key by a single one. Other errors are returned unchanged.
func refusedKey(err error) error {
	if !isInvalidCredential(err) {
		return err
	}
	return fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient,
		"The public ID or private key is missing or wrong.").Because(err)
}

func (a KeyAuth) prove(ctx context.Context, c *call) (org.Caller, error) {
	headers := c.request.Header.Values("Authorization")
	publicID, privateKey, ok := c.request.BasicAuth()
	if len(headers) != 1 || !ok || publicID == "" || privateKey == "" {
		return org.Caller{}, fault.Unauthenticated
	}
	return a.Keys.Authenticate(ctx, publicID, secret.New(privateKey))
}

// OptionalKey is the key of a request that may come without one. A refused key doesn't fail the request, because HTTP
// clients attach Authorization headers to URLs that carry their own signature.
type OptionalKey struct {
	Caller  *org.Caller // nil without a valid key
	Refused error       // the reason an Authorization header was refused, nil if there was none
}

// optional is like caller, for requests that may come without a key. Requests without a valid key are rate-limited by
// client address alone.
func (a KeyAuth) optional(ctx context.Context, c *call) (OptionalKey, error) {
	if len(c.request.Header.Values("Authorization")) == 0 {
		return OptionalKey{}, a.Limiter.take(ctx, c, "")
	}
	caller, err := a.prove(ctx, c)
	if err == nil {
		caller, err = admit(ctx, c, a.Limiter, caller, nil)
		return OptionalKey{Caller: &caller}, err
	}
	if !isInvalidCredential(err) && !errors.Is(err, fault.Forbidden) {
		return OptionalKey{}, err
	}
	return OptionalKey{Refused: refusedKey(err)}, a.Limiter.take(ctx, c, "")
}

// caller finds the organisation of the query parameter public_id and narrows CORS to its origins.
func (a PublicAuth) caller(ctx context.Context, c *call) (org.Caller, error) {
	id, err := publicID(c.request, a.Alias)
	if err != nil {
		return org.Caller{}, err
	}
	caller, err := a.Public.ByPublicID(ctx, id)
	if isInvalidCredential(err) {
		err = fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "public_id is unknown.").Because(err)
	}
	if err == nil {
		allowOrigins(c, caller.AllowedOrigins)
	}
	return admit(ctx, c, a.Limiter, caller, err)
}

// publicID reads the query parameter public_id or, without it, alias.
func publicID(r *http.Request, alias string) (string, error) {
	query, err := parseQuery(r)
	if err != nil {
		return "", err
	}
	id, err := single(query, "public_id")
	if err == nil && id == "" && alias != "" {
		id, err = single(query, alias)
	}
	if err == nil && id == "" {
		return "", fault.BadRequest("public_id is required.").About("public_id")
	}
	return id, err
}

// admit takes a token from the caller's rate limit. If the caller is unknown or refused, it takes one from the client
// address's limit instead. If the caller exceeds its limit, admit returns it with the error.
func admit(ctx context.Context, c *call, limiter Limiter, caller org.Caller, err error) (org.Caller, error) {
	switch {
	case err == nil:
		logx.Add(ctx, slog.String("org_id", caller.Tenant.OrgID), slog.String("mode", string(caller.Tenant.Mode)))
		return caller, limiter.take(ctx, c, caller.CredentialID)
	case errors.Is(err, fault.Unauthenticated), errors.Is(err, fault.Forbidden):
		return org.Caller{}, errors.Join(limiter.take(ctx, c, ""), err)
	}
	return org.Caller{}, err
}

// isInvalidCredential reports whether err means that a credential belongs to no caller, as opposed to an internal
// failure.
func isInvalidCredential(err error) bool {
	return errors.Is(err, fault.Unauthenticated) || errors.Is(err, fault.NotFound) || errors.Is(err, fault.Invalid)
}

// Bearer returns the bearer token (RFC 6750 section 2.1) of an Authorization header, or an empty text if there is none.
func Bearer(header string) secret.Text {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return secret.Text{}
	}
	return secret.New(strings.TrimSpace(token))
}
