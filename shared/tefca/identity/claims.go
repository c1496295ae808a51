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
	// skew is how far apart the clocks may be.
	skew = time.Minute
	// maxLife is the longest that a token may last. Providers let them last for minutes; one of a
	// month is no proof of today.
	maxLife = 24 * time.Hour
	// maxSubject is the longest sub (OpenID Connect Core 1.0 section 2).
	maxSubject = 255
)

// claims are the members of a JSON object. They are read one by one: one of another type than it has to have is
// as if it were not there.
type claims map[string]any

func (c claims) has(name string) bool { _, there := c[name]; return there }

// text returns a string member, or "".
func (c claims) text(name string) string {
	text, _ := c[name].(string)
	return text
}

// objects returns a member that is an object, or those of a list of objects.
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

// texts returns a member that is a list of strings, or one string; nil when anything else is in it.
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

// date returns a NumericDate (RFC 7519 section 2).
func (c claims) date(name string) (time.Time, bool) {
	seconds, ok := c[name].(float64)
	if !ok || seconds < 0 || seconds > 1<<40 {
		return time.Time{}, false
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*float64(time.Second))).UTC(), true
}

// Assert checks an id_token (OpenID Connect Core 1.0 section 3.1.3.7) with the keys of the pinned issuer, and returns
// whom it vouches for, at identity assurance level 2 or more.
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

// mismatch names what of a token is somebody else's, or "".
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

// addressed reports whether a token is for us. One that is for others besides has to say that it
// was we who asked for it.
func (p Provider) addressed(said claims) bool {
	named := said.texts("aud")
	ours := slices.DeleteFunc(slices.Clone(named), func(one string) bool { return !slices.Contains(p.Audiences, one) })
	return len(ours) > 0 && (len(ours) == len(named) || said.text("azp") == p.ClientID)
}

// signedIn reports whether the person has signed in after the browser left, or not longer before than was asked for.
// Who has been asked for max_age has to say when (OpenID Connect Core 1.0 section 2, auth_time), and not every provider
// does what it is asked for.
func (a Authority) signedIn(said claims, now time.Time) bool {
	oldest := a.AskedAt.Add(-time.Duration(a.Provider.MaximumAge()) * time.Second)
	at, ok := said.date("auth_time")
	return ok && !at.Before(oldest.Add(-skew)) && !at.After(now.Add(skew))
}

// lifetime returns from when and until when a token is valid, and refuses one that is not valid now.
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
