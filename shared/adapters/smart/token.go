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
	// maxTokenAnswer is the largest answer of a token endpoint in bytes; some tokens are documents of their own.
	maxTokenAnswer = 256 << 10
	// defaultLife and maxLife of an access token: the one where the server does not say, the other whatever it says.
	defaultLife = 5 * time.Minute
	maxLife     = 366 * 24 * time.Hour
)

// tokenAnswer is what a token endpoint granted, checked and bounded.
type tokenAnswer struct {
	access    secret.Text
	refresh   secret.Text   // empty: none, or after a refresh the old one stays good
	expiresIn time.Duration // of the access token; 5 minutes when the server does not say
	scope     string        // granted, which may differ from what was asked; what was asked when the server does not say
	patient   string        // FHIR id of the patient in context; empty when there is none of valid form
	idToken   secret.Text   // as it came, not verified; empty when there is none
	consentIn time.Duration // until the consent ends; zero when the server does not say
	isConsent bool          // consentIn was said of the consent itself, and not of a token that stands for it
	refreshIn time.Duration // until the refresh token ends, at least if unused; zero when the server does not say
	// extra has the fields that are wanted besides, of at most 8 names that may be kept; "" for one without a good value.
	extra map[string]string
}

// wanted is what an answer is read for: the scope that counts as granted when it names none, and fields besides.
type wanted struct {
	scope string
	extra []string
}

// token posts a grant (RFC 6749 sections 4.1.3 and 6). The error tells its fault.Spot; it is *OAuthError for
// every answer that is no token, one with Unspent() true when our client could not prove who it is, else the
// wrapped error of the Doer.
func (p Portal) token(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, want wanted,
	form url.Values,
) (tokenAnswer, error) {
	granted, err := p.ask(ctx, tenant, use, want, form)
	return granted, fault.Spot{Step: fault.StepToken, Host: fault.HostOf(use.Address)}.Failed(err)
}

// ask is token without the spot.
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

// answer is a JSON object that an authorization server sends. Members are read one by one, so that one of a strange
// type spoils nothing but itself.
type answer map[string]json.RawMessage

// text returns a string member, or "".
func (a answer) text(name string) string {
	var text string
	if json.Unmarshal(a[name], &text) != nil {
		return ""
	}
	return text
}

// words returns a member that is a list as servers write it: of strings, or one string with spaces in it.
func (a answer) words(name string) []string {
	var words []string
	if json.Unmarshal(a[name], &words) != nil {
		words = strings.Fields(a.text(name))
	}
	return words[:min(len(words), maxWords)]
}

// readAnswer reads an answer whatever its status: servers send errors with 200 and invalid_grant with 401.
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

// isToken reports whether text is one or more visible ASCII characters: RFC 6749 appendix A.12 less the space, which
// no header of ours could carry in a bearer token; and no longer than one can be.
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

// life reads expires_in, which servers send as a number or as a string of one.
func life(raw json.RawMessage) time.Duration {
	seconds, ok := positive(raw)
	if !ok {
		return defaultLife
	}
	return time.Duration(min(seconds, maxLife.Seconds())) * time.Second
}
