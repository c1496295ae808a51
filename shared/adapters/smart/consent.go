package smart

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	// maxTerm is the longest plausible lifetime of consent or a refresh token. A response with a larger value means
	// "for ever" or uses milliseconds.
	maxTerm = 50 * 366 * 24 * time.Hour
	// unstoredTime is the timeout for introspection after a refresh that rotated the refresh token. The timeout is
	// short because a crash before the token response is stored would lose the new token.
	unstoredTime = 2 * time.Second
)

// consentTerms and refreshTerms return the names of token response members, in order of precedence. Each of these
// members contains the remaining lifetime, in seconds, of the consent or the refresh token. Two members come from
// draft-ietf-oauth-refresh-token-expiration-02 of May 2026: authorization_expires_in (consent) and
// refresh_token_timeout (an unused refresh token). All other members are older and vendor-specific. The vendor-specific
// members cover only the refresh token, but consent lasts at least as long as the refresh token.
func consentTerms() []string {
	return []string{"authorization_expires_in", "refresh_token_expires_in", "refresh_expires_in"}
}

func refreshTerms() []string {
	return []string{"refresh_token_timeout", "refresh_token_expires_in", "refresh_expires_in"}
}

// withEnds adds the known expiry dates of the consent and the refresh token to a token set. The sources, in order of
// precedence, are the token response, introspection of the refresh token, and the exp claim of a JWT refresh token. A
// refresh token's exp applies to both dates because the token must be used before exp and no other source reports a
// later end of consent. A date from any source replaces the date stored in the set. If no source provides a date, the
// set's date is unchanged.
func (p Portal) withEnds(ctx context.Context, tenant org.Tenant, set tokens.Set, answer tokenAnswer,
	within time.Duration,
) tokens.Set {
	now := p.now()
	if answer.refreshIn > 0 {
		set.RefreshExpiresAt = now.Add(answer.refreshIn)
	}
	if answer.consentIn > 0 {
		set.ConsentExpiresAt, set.ConsentStated = now.Add(answer.consentIn), answer.isConsent
		return set
	}
	end := p.introspect(ctx, tenant, set, within)
	if end.IsZero() && !answer.refresh.Empty() {
		end = p.endOf(answer.refresh)
	}
	if end.IsZero() {
		return set
	}
	set.ConsentExpiresAt, set.ConsentStated = end, false
	if answer.refreshIn == 0 {
		set.RefreshExpiresAt = end
	}
	return set
}

// introspect requests the refresh token's expiry (RFC 7662). The request authenticates as the client, or with the
// access token if the server requires that. A public client can't authenticate (RFC 7662 section 2.1), so introspect
// sends no request for it unless the server accepts the access token. The result is zero if the server doesn't return a
// plausible date. introspect ignores errors, because the date is used only for planning and does not determine whether
// the token is valid. introspect also ignores active:false, because the token was just issued and servers return
// active:false for any token that they can't introspect.
func (p Portal) introspect(ctx context.Context, tenant org.Tenant, set tokens.Set, within time.Duration) time.Time {
	isProven := set.ClientAuthID != "" || set.IntrospectBearer
	if set.IntrospectionEndpoint == "" || set.RefreshToken.Empty() || !isProven {
		return time.Time{}
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	response, err := p.askAbout(ctx, tenant, set) //nolint:bodyclose // document closes it
	if err != nil {
		return time.Time{}
	}
	body, err := document(response, maxExtra)
	var read answer
	if err != nil || json.Unmarshal(body, &read) != nil || string(read["active"]) != "true" {
		return time.Time{}
	}
	return p.ahead(read["exp"])
}

func (p Portal) askAbout(ctx context.Context, tenant org.Tenant, set tokens.Set) (*http.Response, error) {
	form := url.Values{"token": {set.RefreshToken.Reveal()}, "token_type_hint": {"refresh_token"}}
	if set.IntrospectBearer {
		bearer := http.Header{"Authorization": {"Bearer " + set.AccessToken.Reveal()}}
		return p.send(ctx, set.IntrospectionEndpoint, form, bearer)
	}
	return p.post(ctx, tenant, useOf(set, set.IntrospectionEndpoint), form)
}

// endOf returns the exp claim of a JWT refresh token. The claim is only as trustworthy as the token endpoint's
// response.
func (p Portal) endOf(token secret.Text) time.Time {
	claims, _ := unverified(token)
	return p.ahead(claims["exp"])
}

// ahead parses a NumericDate in seconds since 1970 (RFC 7519 section 2). ahead returns zero unless the date is
// plausible and in the future.
func (p Portal) ahead(raw json.RawMessage) time.Time {
	seconds, ok := positive(raw)
	if !ok || seconds > 1<<40 {
		return time.Time{}
	}
	date := time.Unix(int64(seconds), 0)
	if left := date.Sub(p.now()); left <= 0 || left > maxTerm {
		return time.Time{}
	}
	return date
}

// term returns the lifetime in the first member that holds a valid number of seconds, or zero if there is none.
func term(read answer, members []string) time.Duration {
	for _, name := range members {
		if seconds, ok := positive(read[name]); ok && seconds >= 1 && seconds <= maxTerm.Seconds() {
			return time.Duration(seconds) * time.Second
		}
	}
	return 0
}

// positive parses a positive number, which servers send as a JSON number or as a string.
func positive(raw json.RawMessage) (number float64, ok bool) {
	number, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	return number, err == nil && number > 0 && !math.IsNaN(number)
}
