package smart

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	// maxTokenAnswer is the maximum size of a token endpoint's response in bytes. The limit is generous because some
	// tokens contain entire documents.
	maxTokenAnswer = 256 << 10
	// defaultLife is the assumed lifetime of an access token if the server does not report one. maxLife is the longest
	// accepted lifetime.
	defaultLife = 5 * time.Minute
	maxLife     = 366 * 24 * time.Hour
)

// tokenAnswer is a token endpoint's response, validated and limited in size.
type tokenAnswer struct {
	access    secret.Text
	refresh   secret.Text   // refresh token; empty if the server omits it (a refresh then keeps the old token)
	expiresIn time.Duration // lifetime of the access token; 5 minutes if the server reports none
	scope     string        // granted scope; the requested scope if the server omits it
	patient   string        // FHIR ID of the patient in context; empty if missing or malformed
	idToken   secret.Text   // unverified id_token; may be empty
	consentIn time.Duration // time until the consent ends; zero if not reported
	isConsent bool          // whether consentIn applies to the consent itself, not to a token
	refreshIn time.Duration // time until an unused refresh token expires; zero if not reported
	// extra holds up to 8 additional fields that the caller requested and that may be stored. A field is "" if the
	// response has no valid value for it.
	extra map[string]string
}

// wanted holds the scope to assume if the response omits it, and the additional fields to read.
type wanted struct {
	scope string
	extra []string
}

// token posts a grant (RFC 6749 sections 4.1.3 and 6). The error carries a fault.Spot. For every response without a
// token, the error is an *OAuthError. If the client could not be authenticated, the error's Unspent method returns
// true. token wraps errors from the Doer.
func (p Portal) token(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, want wanted,
	form url.Values,
) (tokenAnswer, error) {
	granted, err := p.ask(ctx, tenant, use, want, form)
	return granted, fault.Spot{Step: fault.StepToken, Host: fault.HostOf(use.Address)}.Failed(err)
}

// ask posts a grant like token, but its errors don't carry a fault.Spot.
func (p Portal) ask(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, want wanted,
	form url.Values,
) (tokenAnswer, error) {
	header := http.Header{}
	if err := p.authenticate(ctx, tenant, use, form, header); err != nil {
		return tokenAnswer{}, fmt.Errorf("token request: %w", err)
	}
	response, err := p.send(ctx, use.Address, form, header.Clone()) //nolint:bodyclose // ReadAll closes it
	if err != nil {
		return tokenAnswer{}, fmt.Errorf("token request: %w", err)
	}
	body, err := safehttp.ReadAll(response, maxTokenAnswer)
	if err != nil {
		return tokenAnswer{}, fmt.Errorf("token answer: %w", err)
	}
	granted, refusal := readAnswer(response.StatusCode, body, want)
	if refusal != nil {
		refusal.RetryAfter = retryAfter(response.Header)
		if refusal.Code == codeClient && isAmbiguous(header) {
			refusal.AmbiguousBasic = true
			logx.Add(ctx, slog.Bool("basic_ambiguous", true))
		}
		return tokenAnswer{}, refusal
	}
	return granted, nil
}

// answer is a JSON object from an authorization server. Each member is parsed separately so that a malformed one does
// not affect the rest.
type answer map[string]json.RawMessage

// text returns a string member, or "" if the member does not exist.
func (a answer) text(name string) string {
	var text string
	if json.Unmarshal(a[name], &text) != nil {
		return ""
	}
	return text
}

// words returns a list member, which servers encode as either an array of strings or a space-separated string.
func (a answer) words(name string) []string {
	var words []string
	if json.Unmarshal(a[name], &words) != nil {
		words = strings.Fields(a.text(name))
	}
	return words[:min(len(words), maxWords)]
}

// readAnswer parses a response regardless of its status, because some servers return errors with status 200 or
// invalid_grant with 401.
func readAnswer(status int, body []byte, want wanted) (tokenAnswer, *OAuthError) {
	var read answer
	if json.Unmarshal(body, &read) != nil {
		return tokenAnswer{}, newOAuthError(status, "", "")
	}
	access, kind := read.text("access_token"), read.text("token_type")
	failed := len(read["error"]) > 0 && string(read["error"]) != "null"
	if failed || status/100 != 2 || !isToken(access) || kind != "" && !strings.EqualFold(kind, "bearer") {
		return tokenAnswer{}, newOAuthError(status, read.text("error"), read.text("error_description"))
	}
	granted := tokenAnswer{
		access:    secret.New(access),
		expiresIn: life(read["expires_in"]),
		scope:     boundedScope(read.text("scope")),
		consentIn: term(read, consentTerms()),
		isConsent: term(read, consentTerms()[:1]) > 0,
		refreshIn: term(read, refreshTerms()),
		extra:     read.extra(want.extra),
	}
	if refresh := read.text("refresh_token"); isToken(refresh) {
		granted.refresh = secret.New(refresh)
	}
	if granted.scope == "" {
		granted.scope = want.scope
	}
	if identity := read.text("id_token"); identity != "" {
		granted.idToken = secret.New(identity)
	}
	granted.patient = patientID(read.text("patient"))
	return granted, nil
}

// isToken reports whether text consists of one or more visible ASCII characters and does not exceed a token's maximum
// length. Unlike RFC 6749 appendix A.12, isToken rejects spaces, which a bearer token in a header can't contain.
func isToken(text string) bool {
	if len(text) > maxToken {
		return false
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != ""
}

// life parses expires_in, which servers send as either a number or a string.
func life(raw json.RawMessage) time.Duration {
	seconds, ok := positive(raw)
	if !ok {
		return defaultLife
	}
	return time.Duration(min(seconds, maxLife.Seconds())) * time.Second
}
