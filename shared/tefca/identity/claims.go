package identity

import (
	"crypto/subtle"
	"math"
	"slices"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/secret/jws"
)

const (
	// skew is the tolerated clock skew.
	skew = time.Minute
	// maxLife is the maximum lifetime of a token. Identity providers use lifetimes of a few minutes. A token that is
	// valid for a month would not prove that the identity is current.
	maxLife = 24 * time.Hour
	// maxSubject is the maximum length of sub (OpenID Connect Core 1.0 section 2).
	maxSubject = 255
)

// claims holds a JSON object's members, which are parsed when they are read. A member of the wrong type is treated as
// missing.
type claims map[string]any

func (c claims) has(name string) bool { _, there := c[name]; return there }

// text returns the value of a string member, or "" if the member is missing or not a string.
func (c claims) text(name string) string {
	text, _ := c[name].(string)
	return text
}

// objects returns the objects in a member that is an object or an array of objects.
func (c claims) objects(name string) []claims {
	switch member := c[name].(type) {
	case map[string]any:
		return []claims{member}
	case []any:
		var all []claims
		for _, one := range member {
			if object, ok := one.(map[string]any); ok {
				all = append(all, object)
			}
		}
		return all
	}
	return nil
}

// texts returns the strings in a member that is a string or an array of strings. It returns nil if the member has any
// other type.
func (c claims) texts(name string) []string {
	if text := c.text(name); text != "" {
		return []string{text}
	}
	list, _ := c[name].([]any)
	all := make([]string, 0, len(list))
	for _, one := range list {
		text, ok := one.(string)
		if !ok || text == "" {
			return nil
		}
		all = append(all, text)
	}
	return all
}

// date parses a member whose value is a NumericDate (RFC 7519 section 2).
func (c claims) date(name string) (time.Time, bool) {
	seconds, ok := c[name].(float64)
	if !ok || seconds < 0 || seconds > 1<<40 {
		return time.Time{}, false
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*float64(time.Second))).UTC(), true
}

// Assert verifies an id_token with the pinned issuer's keys (OpenID Connect Core 1.0 section 3.1.3.7) and returns the
// person's identity. The identity has assurance level 2 or higher.
func (a Authority) Assert(token Token, keys jws.Keys, nonceHash string, now time.Time) (tefca.Assertion, error) {
	said, err := token.verify(keys)
	if err != nil {
		return tefca.Assertion{}, err
	}
	if check := a.Provider.mismatch(said, nonceHash); check != "" {
		return tefca.Assertion{}, invalid(check)
	}
	made := tefca.Assertion{
		Provider: a.Provider.ID, Issuer: a.Provider.Issuer, Subject: said.text("sub"),
		Token: token.text,
	}
	if made.IssuedAt, made.ExpiresAt, err = lifetime(said, now); err != nil {
		return tefca.Assertion{}, err
	}
	if !a.signedIn(said, now) {
		return tefca.Assertion{}, invalid("auth_time")
	}
	verified, level := a.Provider.Assurance.verified(said)
	if level < requiredLevel {
		return tefca.Assertion{}, failed(causeLevel, nil)
	}
	made.Level = level
	made.Person, err = person(verified, a.Provider.Assurance.Contacts || said.has("verified_claims"), now)
	return made, err
}

// mismatch returns the name of a claim that does not match the request, or "" if all claims match.
func (p Provider) mismatch(said claims, nonceHash string) string {
	subject, nonce := said.text("sub"), said.text("nonce")
	switch {
	case said.text("iss") != p.Issuer:
		return "issuer"
	case !p.addressed(said):
		return "audience"
	case said.has("azp") && said.text("azp") != p.ClientID:
		return "party"
	case subtle.ConstantTimeCompare([]byte(binding.Hash(nonce)), []byte(nonceHash)) != 1:
		return "nonce"
	case subject == "" || len(subject) > maxSubject:
		return "subject"
	}
	return ""
}

// addressed reports whether the token's audience includes this service. If the token names other audiences as well, its
// authorized party must be this service.
func (p Provider) addressed(said claims) bool {
	named := said.texts("aud")
	ours := slices.DeleteFunc(slices.Clone(named), func(one string) bool { return !slices.Contains(p.Audiences, one) })
	return len(ours) > 0 && (len(ours) == len(named) || said.text("azp") == p.ClientID)
}

// signedIn reports whether the person signed in recently enough: after the redirect, or at most max_age before it.
// Providers that receive max_age must return auth_time (OpenID Connect Core 1.0 section 2, auth_time), but not all
// providers enforce max_age.
func (a Authority) signedIn(said claims, now time.Time) bool {
	oldest := a.AskedAt.Add(-time.Duration(a.Provider.MaximumAge()) * time.Second)
	at, ok := said.date("auth_time")
	return ok && !at.Before(oldest.Add(-skew)) && !at.After(now.Add(skew))
}

// lifetime returns a token's issue and expiry times, or an error if the token is not valid now.
func lifetime(said claims, now time.Time) (issued, expires time.Time, err error) {
	issued, issuedOK := said.date("iat")
	expires, expiresOK := said.date("exp")
	start, startOK := said.date("nbf")
	switch {
	case !issuedOK || issued.After(now.Add(skew)):
		return issued, expires, invalid("issued")
	case !expiresOK || !expires.After(issued) || expires.Sub(issued) > maxLife:
		return issued, expires, invalid("expiry")
	case said.has("nbf") && (!startOK || start.After(now.Add(skew))):
		return issued, expires, invalid("not_before")
	case !now.Before(expires.Add(skew)):
		return issued, expires, failed(causeExpired, nil)
	}
	return issued, expires, nil
}
