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
	// maxTerm is the longest that consent or a refresh token is believed to last: whoever says more means for ever, or
	// counts in milliseconds.
	maxTerm = 50 * 366 * 24 * time.Hour
	// unstoredTime is what introspection gets after a refresh that rotated the refresh token: until the answer is stored,
	// a crash costs the new token.
	unstoredTime = 2 * time.Second
)

// consentTerms and refreshTerms are the members of a token answer that say in how many seconds the consent and the
// refresh token end, the first that tells. authorization_expires_in (consent) and refresh_token_timeout (a refresh
// token that nobody uses) are of draft-ietf-oauth-refresh-token-expiration-02 of May 2026. The others are vendors' own,
// older, and silent on consent, which lasts at least as long as the token that stands for it.
func consentTerms() []string {
	return []string{"authorization_expires_in", "refresh_token_expires_in", "refresh_expires_in"}
}

func refreshTerms() []string {
	return []string{"refresh_token_timeout", "refresh_token_expires_in", "refresh_expires_in"}
}

// withEnds adds to a set what is known of the end of consent and of the refresh token, first that tells: the token
// answer, introspection of the refresh token, the date in a refresh token that is a JWT. The exp of a refresh token is
// the end of both: it must be used before, and nobody speaks of consent beyond it. What none of them tells stays as it
// is in the set; a newer word replaces an older one.
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

// introspect asks when the refresh token ends (RFC 7662): as the client, or with the access token where the server
// wants that. A public client has nothing to be let in with (section 2.1) and does not ask. It is zero when there is no
// good answer, and never an error: this is a date to plan with, no judgement of the token. active:false, too, says
// nothing, since the token came a moment ago, and servers answer so for whatever they cannot introspect.
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

// endOf reads the date in a refresh token that is a JWT. Nothing vouches for it but the answer it came in, as for a
// member of that answer.
func (p Portal) endOf(token secret.Text) time.Time {
	claims, _ := unverified(token)
	return p.ahead(claims["exp"])
}

// ahead reads a date in seconds since 1970 (RFC 7519 section 2). It is zero unless the date
// lies ahead, and not too far.
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

// term is the first good number of seconds among the members; zero when there is none.
func term(read answer, members []string) time.Duration {
	for _, name := range members {
		if seconds, ok := positive(read[name]); ok && seconds >= 1 && seconds <= maxTerm.Seconds() {
			return time.Duration(seconds) * time.Second
		}
	}
	return 0
}

// positive reads a number above zero, which servers send as such or as a string of one.
func positive(raw json.RawMessage) (number float64, ok bool) {
	number, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	return number, err == nil && number > 0 && !math.IsNaN(number)
}
