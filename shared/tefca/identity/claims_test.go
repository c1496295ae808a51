package identity_test

import (
	"strings"
	"testing"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/secret"
)

// TestAssertRejectsInvalidTokenClaims covers the checks in OpenID Connect Core 1.0 section 3.1.3.7.
func TestAssertRejectsInvalidTokenClaims(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes object // a nil value removes a claim
		check   string // name of the failed check; "" if the token is valid
	}{
		"as they are":                    {object{}, ""},
		"the client id":                  {object{"aud": clientID}, ""},
		"both names of ours":             {object{"aud": []any{audience, clientID}}, ""},
		"others, too, but asked by us":   {object{"aud": []any{audience, "other"}, "azp": clientID}, ""},
		"azp of ours":                    {object{"azp": clientID}, ""},
		"another issuer":                 {object{"iss": "https://evil.example"}, "issuer"},
		"a longer issuer":                {object{"iss": issuer + "/"}, "issuer"},
		"no issuer":                      {object{"iss": nil}, "issuer"},
		"an issuer that is a list":       {object{"iss": []any{issuer}}, "issuer"},
		"another audience":               {object{"aud": "other"}, "audience"},
		"no audience":                    {object{"aud": nil}, "audience"},
		"an empty audience":              {object{"aud": []any{}}, "audience"},
		"an audience that is an object":  {object{"aud": object{"0": audience}}, "audience"},
		"an audience with a number":      {object{"aud": []any{audience, 7}}, "audience"},
		"others, too, asked by nobody":   {object{"aud": []any{audience, "other"}}, "audience"},
		"others, too, asked by them":     {object{"aud": []any{audience, "other"}, "azp": "other"}, "audience"},
		"azp of another":                 {object{"azp": "other"}, "party"},
		"azp that is no text":            {object{"azp": []any{clientID}}, "party"},
		"azp that is our audience":       {object{"azp": audience}, "party"},
		"another nonce":                  {object{"nonce": "nonce-2"}, "nonce"},
		"the hash of the nonce":          {object{"nonce": binding.Hash(nonce)}, "nonce"},
		"no nonce":                       {object{"nonce": nil}, "nonce"},
		"a nonce that is a list":         {object{"nonce": []any{nonce}}, "nonce"},
		"no subject":                     {object{"sub": nil}, "subject"},
		"a subject that is a number":     {object{"sub": 7}, "subject"},
		"a subject that is too long":     {object{"sub": strings.Repeat("x", 256)}, "subject"},
		"no time of issue":               {object{"iat": nil}, "issued"},
		"a time of issue that is a text": {object{"iat": "1772366400"}, "issued"},
		"a negative time of issue":       {object{"iat": -1}, "issued"},
		"no end":                         {object{"exp": nil}, "expiry"},
		"an end that is a text":          {object{"exp": "1772366400"}, "expiry"},
		"an end beyond all years":        {object{"exp": 1e300}, "expiry"},
		"a beginning that is a text":     {object{"nbf": "1772366400"}, "not_before"},
		"a beginning beyond all years":   {object{"nbf": 1e300}, "not_before"},
		"a beginning that is null":       {object{"nbf": null{}}, "not_before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := shapes()["CMS-aligned"]
			for claim, value := range test.changes {
				switch value.(type) {
				case nil:
					delete(said, claim)
				case null:
					said[claim] = nil
				default:
					said[claim] = value
				}
			}
			_, err := assert(authority(), token(t, said), now)
			if test.check == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			refused(t, err, "token_invalid", test.check)
		})
	}
}

// null represents JSON's null, because a nil value removes the claim instead.
type null struct{}

func TestAssertRejectsTokenFromAnotherSignIn(t *testing.T) {
	t.Parallel()
	parsed, err := identity.Parse(secret.New(token(t, shapes()["CMS-aligned"])))
	if err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{binding.Hash("nonce-2"), binding.Hash(""), ""} {
		_, err := authority().Assert(parsed, keySet(), hash, now)
		refused(t, err, "token_invalid", "nonce")
	}
}

// TestAssertEnforcesExactTimeLimits tests each exact limit and one second on either side of it.
func TestAssertEnforcesExactTimeLimits(t *testing.T) {
	t.Parallel()
	const second, skew = time.Second, time.Minute
	for name, test := range map[string]struct {
		issued, starts, ends time.Duration // relative to now; if starts is 0, the claim is omitted
		cause, check         string
	}{
		"just issued, ahead of us":    {skew, 0, time.Hour, "", ""},
		"issued too far ahead of us":  {skew + second, 0, time.Hour, "token_invalid", "issued"},
		"starts ahead of us":          {0, skew, time.Hour, "", ""},
		"starts too far ahead of us":  {0, skew + second, time.Hour, "token_invalid", "not_before"},
		"has started":                 {0, -second, time.Hour, "", ""},
		"about to end":                {-time.Hour, 0, second, "", ""},
		"has ended, within the skew":  {-time.Hour, 0, second - skew, "", ""},
		"has ended at the skew":       {-time.Hour, 0, -skew, "identity_expired", ""},
		"has ended":                   {-time.Hour, 0, -skew - second, "identity_expired", ""},
		"lasts as long as one may":    {0, 0, 24 * time.Hour, "", ""},
		"lasts longer":                {0, 0, 24*time.Hour + second, "token_invalid", "expiry"},
		"ends as it is issued":        {0, 0, 0, "token_invalid", "expiry"},
		"ends before it was issued":   {0, 0, -second, "token_invalid", "expiry"},
		"ends a second after it was":  {0, 0, second, "", ""},
		"was issued a long time back": {-23 * time.Hour, 0, time.Hour, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := shapes()["CMS-aligned"]
			said["iat"], said["exp"] = now.Add(test.issued).Unix(), now.Add(test.ends).Unix()
			if test.starts != 0 {
				said["nbf"] = now.Add(test.starts).Unix()
			}
			made, err := assert(authority(), token(t, said), now)
			if test.cause != "" {
				refused(t, err, test.cause, test.check)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !made.IssuedAt.Equal(now.Add(test.issued)) || !made.ExpiresAt.Equal(now.Add(test.ends)) {
				t.Errorf("from %v to %v", made.IssuedAt, made.ExpiresAt)
			}
		})
	}
}

// TestAssertRejectsSignInOlderThanMaxAge tests the exact limit and one second on either side of it. Time spent at the
// identity provider does not count towards the limit.
func TestAssertRejectsSignInOlderThanMaxAge(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	asked := now.Add(-20 * minute)
	for name, test := range map[string]struct {
		maxAge int
		said   any // nil to omit the claim
		good   bool
	}{
		"while the browser was away":  {0, asked.Add(minute).Unix(), true},
		"as it came back":             {0, now.Unix(), true},
		"ahead of us":                 {0, now.Add(minute).Unix(), true},
		"too far ahead of us":         {0, now.Add(minute + time.Second).Unix(), false},
		"five minutes before":         {0, asked.Add(-5 * minute).Unix(), true},
		"within the skew":             {0, asked.Add(-6 * minute).Unix(), true},
		"longer before":               {0, asked.Add(-6*minute - time.Second).Unix(), false},
		"as configured":               {60, asked.Add(-2 * minute).Unix(), true},
		"longer before than that":     {60, asked.Add(-2*minute - time.Second).Unix(), false},
		"a longer one, as configured": {3600, asked.Add(-61 * minute).Unix(), true},
		"yesterday":                   {3600, now.Add(-24 * time.Hour).Unix(), false},
		"nobody knows when":           {0, nil, false},
		"a text":                      {0, "1772366400", false},
		"a number that is no date":    {0, -1, false},
		"a list with one":             {0, []any{now.Unix()}, false},
		"beyond all years":            {0, 1e300, false},
	} {
		a, said := authority(), shapes()["CMS-aligned"]
		a.AskedAt, a.Provider.MaxAge = asked, test.maxAge
		delete(said, "auth_time")
		if test.said != nil {
			said["auth_time"] = test.said
		}
		_, err := assert(a, token(t, said), now)
		if test.good && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !test.good {
			refused(t, err, "token_invalid", "auth_time")
		}
	}
}

func TestAssertAcceptsFractionalDates(t *testing.T) {
	t.Parallel()
	said := shapes()["CMS-aligned"]
	said["exp"] = float64(now.Unix()) + 600.5
	made, err := assert(authority(), token(t, said), now)
	if err != nil || !made.ExpiresAt.Equal(now.Add(600*time.Second+500*time.Millisecond)) {
		t.Errorf("%v, %v", made.ExpiresAt, err)
	}
}
