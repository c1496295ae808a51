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

// KeyAuthenticator checks a key pair. publicID is any text from the client: a prefixed ID, a bare UUID or garbage. If
// the pair is wrong for any reason, the error is fault.Unauthenticated, NotFound or Invalid, and the client gets the
// same response in all three cases. Any other error is an internal failure.
type KeyAuthenticator interface {
	Authenticate(ctx context.Context, publicID string, privateKey secret.Text) (org.Caller, error)
}

// PublicFinder looks up the organisation with the given public ID, which may be prefixed or bare. If the ID is
// malformed, unknown or revoked, the error is fault.Unauthenticated, NotFound or Invalid. Any other error is an
// internal failure.
type PublicFinder interface {
	ByPublicID(ctx context.Context, publicID string) (org.Caller, error)
}

// KeyAuth authenticates and rate-limits the callers of Keyed endpoints.
type KeyAuth struct {
	Keys    KeyAuthenticator
	Limiter Limiter
}

// PublicAuth identifies and rate-limits the organisations that call Browser and PublicPage endpoints.
type PublicAuth struct {
	Public  PublicFinder
	Limiter Limiter
	Own     weburl.Own // the service's own URLs, to which a PublicPage never redirects
	Alias   string     // alternative name of public_id that clients may use; may be empty
}

// caller verifies the Basic credentials. Every failure results in the same 401 response, regardless of which part of
// the credentials was wrong. Each failure counts against the client address's rate limit, which slows down guessing.
func (a KeyAuth) caller(ctx context.Context, c *call) (org.Caller, error) {
	caller, err := a.prove(ctx, c)
	return admit(ctx, c, a.Limiter, caller, refusedKey(err))
}

// refusedKey replaces every error about a wrong key with the same error, and returns other errors unchanged.
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

// OptionalKey holds the result of authenticating a request whose key is optional. An invalid key doesn't fail the
// request, because HTTP clients attach Authorization headers even to URLs that carry their own signature.
type OptionalKey struct {
	Caller  *org.Caller // the key's owner; nil without a valid key
	Refused error       // reason for rejecting the Authorization header; nil if the header was valid or missing
}

// optional is like caller, but accepts requests without a key. Requests without a valid key are rate-limited only by
// client address.
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

// caller looks up the organisation identified by the query parameter public_id and restricts CORS to the organisation's
// origins.
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

// publicID returns the query parameter public_id or, if it is missing, the parameter named alias.
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

// admit takes a token from the caller's rate limit or, if the caller is unknown or rejected, from the client address's
// limit. If the limit is exceeded, admit returns both the caller and the error.
func admit(ctx context.Context, c *call, limiter Limiter, caller org.Caller, err error) (org.Caller, error) {
	switch {
	case err == nil:
		logx.Add(ctx, slog.String("org_id", caller.Tenant.OrgID), slog.String("mode", string(caller.Tenant.Mode)))
		c.caller = caller
		return caller, limiter.take(ctx, c, caller.CredentialID)
	case errors.Is(err, fault.Unauthenticated), errors.Is(err, fault.Forbidden):
		return org.Caller{}, errors.Join(limiter.take(ctx, c, ""), err)
	}
	return org.Caller{}, err
}

// isInvalidCredential reports whether err is one of the errors for an invalid credential. Other errors are internal
// failures.
func isInvalidCredential(err error) bool {
	return errors.Is(err, fault.Unauthenticated) || errors.Is(err, fault.NotFound) || errors.Is(err, fault.Invalid)
}

// Bearer returns the bearer token (RFC 6750 section 2.1) of an Authorization header, or an empty Text if there is none.
func Bearer(header string) secret.Text {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return secret.Text{}
	}
	return secret.New(strings.TrimSpace(token))
}
