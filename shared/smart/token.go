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

	"recordbridge/shared/logx"
	"recordbridge/shared/org"
	"recordbridge/shared/safehttp"
	"recordbridge/shared/secret"
)

const (
	// maxTokenAnswer is the largest answer of a token endpoint in bytes; some tokens are documents of their own.
	maxTokenAnswer = 256 << 10
	// defaultLife and maxLife of an access token (fhir.md section 1.3).
	defaultLife = 5 * time.Minute
	maxLife     = 366 * 24 * time.Hour
)

// CodeGrant exchanges an authorization code (RFC 6749 section 4.1.3, RFC 7636 section 4.5).
type CodeGrant struct {
	Tenant        org.Tenant
	TokenEndpoint string // pinned when the attempt began, never taken from the answer (RFC 9700 section 4.4)
	ClientID      string
	ClientAuthID  string // empty for a public client
	RedirectURI   string
	Code          secret.Text
	Verifier      secret.Text // empty where no challenge was sent
	Scope         string      // asked for; not sent again
	Extra         []string    // fields of the answer that are wanted besides (TokenResponse)
	RawBasic      bool        // the server reads HTTP Basic as it is (catalog.ClientUse)
}

// RefreshGrant exchanges a refresh token (RFC 6749 section 6).
type RefreshGrant struct {
	Tenant        org.Tenant
	TokenEndpoint string
	ClientID      string
	ClientAuthID  string // empty for a public client
	RefreshToken  secret.Text
	Scope         string   // granted before
	RepeatScope   bool     // sends Scope; leaving it out asks for the same again, but some refuse that
	Extra         []string // as of CodeGrant
	RawBasic      bool     // as of CodeGrant
}

// TokenResponse is what a token endpoint granted.
type TokenResponse struct {
	AccessToken  secret.Text
	RefreshToken secret.Text   // empty: none, or after Refresh the old one stays good
	ExpiresIn    time.Duration // of the access token; 5 minutes when the server does not say
	Scope        string        // granted, which may differ from what was asked; the grant's Scope when the server does not say
	Patient      string        // FHIR id of the patient in context; empty when there is none of valid form
	IDToken      secret.Text   // as it came, not verified; empty when there is none
	ConsentIn    time.Duration // until the consent ends; zero when the server does not say
	IsConsent    bool          // ConsentIn was said of the consent itself, and not of a token that stands for it
	RefreshIn    time.Duration // until the refresh token ends, at least if unused; zero when the server does not say
	// Extra has the fields that the grant wants, of at most 8 names that may be kept; "" for one without a good value.
	Extra map[string]string
}

// Exchange gets tokens for an authorization code. The error is *OAuthError for every answer that is no token, one with
// Unspent() true when our client could not prove who it is, else the wrapped error of the Doer. Not to be repeated: a
// code works once.
func (c *Client) Exchange(ctx context.Context, grant CodeGrant) (TokenResponse, error) {
	form := url.Values{
		"grant_type":   {"authorization_code"},
		"code":         {grant.Code.Reveal()},
		"redirect_uri": {grant.RedirectURI},
	}
	if !grant.Verifier.Empty() { // a verifier without a challenge has to be refused (RFC 9700 section 2.1.1)
		form.Set("code_verifier", grant.Verifier.Reveal())
	}
	by := caller{grant.Tenant, grant.ClientAuthID, grant.ClientID, grant.TokenEndpoint, grant.RawBasic}
	return c.token(ctx, by, wanted{grant.Scope, grant.Extra}, form)
}

// Refresh gets a new access token. Errors are those of Exchange. Many servers take a refresh token once, so the caller
// holds a lease and stores the answer before anything uses it.
func (c *Client) Refresh(ctx context.Context, grant RefreshGrant) (TokenResponse, error) {
	form := url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {grant.RefreshToken.Reveal()},
	}
	if grant.RepeatScope && grant.Scope != "" {
		form.Set("scope", grant.Scope)
	}
	by := caller{grant.Tenant, grant.ClientAuthID, grant.ClientID, grant.TokenEndpoint, grant.RawBasic}
	return c.token(ctx, by, wanted{grant.Scope, grant.Extra}, form)
}

// wanted is what an answer is read for: the scope that counts as granted when it names none, and fields besides.
type wanted struct {
	scope string
	extra []string
}

// token posts a grant.
func (c *Client) token(ctx context.Context, by caller, want wanted, form url.Values) (TokenResponse, error) {
	header := http.Header{}
	if err := c.authenticate(ctx, by, by.tokenEndpoint, form, header); err != nil {
		return TokenResponse{}, fmt.Errorf("token request: %w", err)
	}
	response, err := c.send(ctx, by.tokenEndpoint, form, header.Clone()) //nolint:bodyclose // ReadAll closes it
	if err != nil {
		return TokenResponse{}, fmt.Errorf("token request: %w", err)
	}
	body, err := safehttp.ReadAll(response, maxTokenAnswer)
	if err != nil {
		return TokenResponse{}, fmt.Errorf("token answer: %w", err)
	}
	granted, refusal := readAnswer(response.StatusCode, body, want)
	if refusal != nil {
		refusal.RetryAfter = retryAfter(response.Header)
		if refusal.Code == codeClient && isAmbiguous(header) {
			refusal.AmbiguousBasic = true
			logx.Add(ctx, slog.Bool("basic_ambiguous", true))
		}
		return TokenResponse{}, refusal
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
func readAnswer(status int, body []byte, want wanted) (TokenResponse, *OAuthError) {
	var read answer
	if json.Unmarshal(body, &read) != nil {
		return TokenResponse{}, newOAuthError(status, "", "")
	}
	access, kind := read.text("access_token"), read.text("token_type")
	failed := len(read["error"]) > 0 && string(read["error"]) != "null"
	if failed || status/100 != 2 || !isToken(access) || kind != "" && !strings.EqualFold(kind, "bearer") {
		return TokenResponse{}, newOAuthError(status, read.text("error"), read.text("error_description"))
	}
	granted := TokenResponse{
		AccessToken: secret.New(access),
		ExpiresIn:   life(read["expires_in"]),
		Scope:       boundedScope(read.text("scope")),
		ConsentIn:   term(read, consentTerms()),
		IsConsent:   term(read, consentTerms()[:1]) > 0,
		RefreshIn:   term(read, refreshTerms()),
		Extra:       read.extra(want.extra),
	}
	if refresh := read.text("refresh_token"); isToken(refresh) {
		granted.RefreshToken = secret.New(refresh)
	}
	if granted.Scope == "" {
		granted.Scope = want.scope
	}
	if identity := read.text("id_token"); identity != "" {
		granted.IDToken = secret.New(identity)
	}
	granted.Patient = patientID(read.text("patient"))
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
