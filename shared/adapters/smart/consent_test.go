package smart_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

const day = 24 * time.Hour

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// terms is a simulated health system that reports expiry dates.
type terms struct {
	members      map[string]any // token response members other than the two tokens
	refresh      string         // refresh token; "opaque" if empty
	introspected http.HandlerFunc
	consent      time.Duration // the profile's consent lifetime
}

func (c terms) start(t *testing.T) *ehr {
	t.Helper()
	members := map[string]any{"access_token": "a", "refresh_token": "opaque", "patient": "p"}
	if c.refresh != "" {
		members["refresh_token"] = c.refresh
	}
	maps.Copy(members, c.members)
	maps.DeleteFunc(members, func(_ string, value any) bool { return value == nil })
	answers := map[string]http.HandlerFunc{"/token": reply(http.StatusOK, marshal(t, members))}
	if c.introspected != nil {
		answers["/introspect"] = c.introspected
	}
	return newEHR(t, answers)
}

// expects holds the expected lifetimes, measured from noon. Zero means that a lifetime is unknown.
type expects struct{ consent, refresh time.Duration }

func (w expects) check(t *testing.T, set tokens.Set) {
	t.Helper()
	for name, dates := range map[string]struct {
		got  time.Time
		want time.Duration
	}{"consent": {set.ConsentExpiresAt, w.consent}, "refresh token": {set.RefreshExpiresAt, w.refresh}} {
		if dates.want == 0 && !dates.got.IsZero() || dates.want != 0 && !dates.got.Equal(noon().Add(dates.want)) {
			t.Errorf("the %s ends at %v, want %v after noon", name, dates.got, dates.want)
		}
	}
}

func introspection(t *testing.T, members map[string]any) http.HandlerFunc {
	t.Helper()
	return reply(http.StatusOK, marshal(t, members))
}

func jwt(t *testing.T, claims map[string]any) string {
	t.Helper()
	return encode([]byte(`{"alg":"HS256"}`)) + "." + encode([]byte(marshal(t, claims))) + "." + encode([]byte("signature"))
}

func at(after time.Duration) int64 { return noon().Add(after).Unix() }

func TestConsentExpiryUsesSourceWithHighestPrecedence(t *testing.T) {
	t.Parallel()
	opinion := introspection(t, map[string]any{"active": true, "exp": at(20 * day)})
	dated := jwt(t, map[string]any{"exp": at(10 * day)})
	for name, test := range map[string]struct {
		terms

		want  expects
		asked bool // whether introspection was requested
	}{
		"nobody": {terms{}, expects{}, true},
		"the answer, of consent": {
			terms{map[string]any{
				"authorization_expires_in": 86400, "refresh_token_timeout": 3600,
				"refresh_token_expires_in": 7200,
			}, dated, opinion, 30 * day},
			expects{day, time.Hour},
			false,
		},
		"the answer, of the refresh token": {
			terms{map[string]any{"refresh_token_expires_in": 7200, "refresh_expires_in": 3600}, dated, opinion, 30 * day},
			expects{2 * time.Hour, 2 * time.Hour},
			false,
		},
		"the answer, by its third name": {
			terms{map[string]any{"refresh_expires_in": "3600"}, dated, opinion, 30 * day},
			expects{time.Hour, time.Hour},
			false,
		},
		"an idle time is no consent": {
			terms{map[string]any{"refresh_token_timeout": 3600}, "", nil, 0},
			expects{0, time.Hour},
			true,
		},
		"introspection beside it": {
			terms{map[string]any{"refresh_token_timeout": 3600}, "", opinion, 0},
			expects{20 * day, time.Hour},
			true,
		},
		"introspection":            {terms{nil, dated, opinion, 30 * day}, expects{20 * day, 20 * day}, true},
		"the refresh token itself": {terms{nil, dated, nil, 30 * day}, expects{10 * day, 10 * day}, true},
		"the platform":             {terms{nil, "", nil, 30 * day}, expects{30 * day, 0}, true},
		"no refresh token to ask about": {
			terms{map[string]any{"refresh_token": nil}, "", opinion, 30 * day},
			expects{30 * day, 0},
			false,
		},
		"the next, where one is absurd": {
			terms{map[string]any{
				"authorization_expires_in": 0, "refresh_token_expires_in": -1,
				"refresh_expires_in": 60,
			}, "", nil, 0},
			expects{time.Minute, time.Minute},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := test.start(t)
			set, err := portal(doer(), noon, &proving{}).Exchange(t.Context(), flow.Grant{
				Attempt: flow.Attempt{
					Server: flow.Server{
						TokenEndpoint: e.URL + "/token",
						Upstream:      flow.Upstream{Introspection: e.URL + "/introspect", Consent: test.consent},
					},
					Client: flow.Client{ClientID: "client", ClientAuthID: "auth-7"},
				},
				Code: secret.New("code"),
			})
			if err != nil {
				t.Fatal(err)
			}
			test.want.check(t, set)
			if stated := name == "the answer, of consent" || test.want.consent == 30*day; set.ConsentStated != stated {
				t.Errorf("it was said of the consent itself: %t, want %t", set.ConsentStated, stated)
			}
			if asked := strings.Contains(e.paths(), "/introspect"); asked != test.asked {
				t.Errorf("introspection was asked: %t, want %t", asked, test.asked)
			}
		})
	}
}

func TestConsentExpiryIgnoresInvalidNumbers(t *testing.T) {
	t.Parallel()
	for _, value := range []any{
		0, -1, 0.5, "0", "never", "", "NaN", "Inf", 1e300, 51 * 366 * 86400, nil, true,
		[]int{3600},
		map[string]int{"seconds": 3600},
	} {
		e := terms{members: map[string]any{
			"authorization_expires_in": value, "refresh_token_timeout": value, "refresh_token_expires_in": value,
			"refresh_expires_in": value,
		}}.start(t)
		set, err := e.signIn(t)
		if err != nil {
			t.Fatal(err)
		}
		if !set.ConsentExpiresAt.IsZero() || !set.RefreshExpiresAt.IsZero() {
			t.Errorf("%v: got %v, %v", value, set.ConsentExpiresAt, set.RefreshExpiresAt)
		}
	}
	for value, want := range map[any]time.Duration{
		3600: time.Hour, "3600": time.Hour, 59.9: 59 * time.Second,
		50 * 366 * 86400: 50 * 366 * day,
	} {
		e := terms{members: map[string]any{"authorization_expires_in": value}}.start(t)
		set, err := portal(doer(), noon, public{}).Exchange(
			t.Context(), flow.Grant{Attempt: flow.Attempt{Server: flow.Server{TokenEndpoint: e.URL + "/token"}}},
		)
		if err != nil {
			t.Fatal(err)
		}
		expects{consent: want}.check(t, set)
	}
}

func TestIntrospectionIgnoresUnusableResponse(t *testing.T) {
	t.Parallel()
	answers := map[string]http.HandlerFunc{
		"404": nil, "500": reply(http.StatusInternalServerError, `{"active":true,"exp":1}`),
		"401":    reply(http.StatusUnauthorized, `{"error":"invalid_client"}`),
		"a page": reply(http.StatusOK, "<html>"), "too much": reply(http.StatusOK, "{"+strings.Repeat(" ", 300<<10)+"}"),
		"a list":     reply(http.StatusOK, "[]"),
		"a redirect": reply(http.StatusTemporaryRedirect, "", "Location", "SELF/elsewhere"),
	}
	for name, members := range map[string]map[string]any{
		"not active":         {"active": false, "exp": at(day)},
		"nothing of active":  {"exp": at(day)},
		"active as a text":   {"active": "true", "exp": at(day)},
		"no date":            {"active": true},
		"a date in the past": {"active": true, "exp": at(-time.Second)},
		"now":                {"active": true, "exp": at(0)},
		"a distant date":     {"active": true, "exp": at(51 * 366 * day)},
		"milliseconds":       {"active": true, "exp": noon().Add(day).UnixMilli()},
		"an endless date":    {"active": true, "exp": 1e300},
		"zero":               {"active": true, "exp": 0},
		"a date in words":    {"active": true, "exp": "2027-01-01"},
	} {
		answers[name] = introspection(t, members)
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := terms{introspected: answer}.start(t)
			set, err := portal(doer(), noon, &proving{}).Exchange(t.Context(), flow.Grant{
				Attempt: flow.Attempt{
					Server: flow.Server{
						TokenEndpoint: e.URL + "/token", Upstream: flow.Upstream{Introspection: e.URL + "/introspect"},
					},
					Client: flow.Client{ClientAuthID: "auth-7"},
				},
			})
			if err != nil || set.AccessToken.Reveal() != "a" || e.paths() != "/token /introspect" {
				t.Errorf("%v after %s", err, e.paths())
			}
			expects{}.check(t, set)
		})
	}
}

func TestRefreshTokenExpiryIsValidated(t *testing.T) {
	t.Parallel()
	good := jwt(t, map[string]any{"exp": at(day)})
	for name, test := range map[string]struct {
		token string
		want  time.Duration
	}{
		"a date":             {good, day},
		"a date as a text":   {jwt(t, map[string]any{"exp": "1772452800"}), day},
		"no date":            {jwt(t, map[string]any{"sub": "x"}), 0},
		"zero":               {jwt(t, map[string]any{"exp": 0}), 0},
		"in the past":        {jwt(t, map[string]any{"exp": at(-day)}), 0},
		"encrypted":          {good + ".a.b", 0},
		"no JSON":            {"a.b.c", 0},
		"two parts":          {"a.b", 0},
		"longer than a page": {jwt(t, map[string]any{"exp": at(day), "x": strings.Repeat("x", 64<<10)}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := terms{refresh: test.token}.start(t)
			set, err := portal(doer(), noon, public{}).Exchange(
				t.Context(), flow.Grant{Attempt: flow.Attempt{Server: flow.Server{TokenEndpoint: e.URL + "/token"}}},
			)
			if err != nil {
				t.Fatal(err)
			}
			expects{test.want, test.want}.check(t, set)
		})
	}
}

func TestRefreshKeepsUnreportedExpiryDates(t *testing.T) {
	t.Parallel()
	before := expects{5 * day, 2 * day}
	for name, test := range map[string]struct {
		terms

		want expects
	}{
		"nothing is told":              {terms{}, before},
		"the platform's default stays": {terms{consent: 30 * day}, before},
		"consent": {
			terms{members: map[string]any{"authorization_expires_in": 3600}},
			expects{time.Hour, 2 * day},
		},
		"an idle time": {
			terms{members: map[string]any{"refresh_token_timeout": 3600}},
			expects{5 * day, time.Hour},
		},
		"the refresh token": {
			terms{members: map[string]any{"refresh_expires_in": 3600}},
			expects{time.Hour, time.Hour},
		},
		"a rotated token with a date": {
			terms{refresh: jwt(t, map[string]any{"exp": at(9 * day)})},
			expects{9 * day, 9 * day},
		},
		"a rotated token without one": {terms{refresh: jwt(t, map[string]any{"sub": "x"})}, before},
		"introspection": {terms{introspected: introspection(t,
			map[string]any{"active": true, "exp": at(8 * day)})}, expects{8 * day, 8 * day}},
		"introspection of a token that stays": {
			terms{
				members:      map[string]any{"refresh_token": nil},
				introspected: introspection(t, map[string]any{"active": true, "exp": at(8 * day)}),
			},
			expects{8 * day, 8 * day},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := test.start(t)
			set, err := portal(doer(), noon, &proving{}).Refresh(t.Context(), tenant(), tokens.Set{
				TokenEndpoint: e.URL + "/token", IntrospectionEndpoint: e.URL + "/introspect", RefreshToken: secret.New("old"),
				ClientAuthID:     "auth-7",
				ConsentExpiresAt: noon().Add(before.consent), RefreshExpiresAt: noon().Add(before.refresh),
			})
			if err != nil {
				t.Fatal(err)
			}
			test.want.check(t, set)
		})
	}
}

func TestIntrospectionUsesNewAccessTokenWhenPlatformRequiresIt(t *testing.T) {
	t.Parallel()
	e := terms{introspected: introspection(t, map[string]any{"active": true, "exp": at(day)})}.start(t)
	clients, set := &proving{}, e.confidential()
	set.IntrospectBearer = true
	got, err := portal(doer(), noon, clients).Refresh(t.Context(), tenant(), set)
	if err != nil {
		t.Fatal(err)
	}
	expects{day, day}.check(t, got)
	asked := e.requests()[1]
	if asked.Header.Get("Authorization") != "Bearer a" || len(clients.asked) != 1 ||
		asked.PostForm.Encode() != "token=opaque&token_type_hint=refresh_token" {
		t.Errorf("asked with %q and %q, proven %d times", asked.Header.Get("Authorization"), asked.PostForm.Encode(),
			len(clients.asked))
	}
}

// TestPublicClientSkipsIntrospectionUnlessPlatformAcceptsAccessToken covers RFC 7662 section 2.1: introspection
// requires authentication, but a public client has no credentials.
func TestPublicClientSkipsIntrospectionUnlessPlatformAcceptsAccessToken(t *testing.T) {
	t.Parallel()
	for bearer, want := range map[bool]string{false: "/token", true: "/token /introspect"} {
		e := terms{introspected: introspection(t, map[string]any{"active": true, "exp": at(day)})}.start(t)
		upstream := flow.Upstream{Introspection: e.URL + "/introspect", IntrospectBearer: bearer}
		set, err := portal(doer(), noon, public{}).Exchange(t.Context(), flow.Grant{
			Attempt: flow.Attempt{
				Server: flow.Server{TokenEndpoint: e.URL + "/token", Upstream: upstream},
				Client: flow.Client{ClientID: "client"},
			},
		})
		if err != nil || e.paths() != want || set.ConsentExpiresAt.IsZero() == bearer {
			t.Errorf("with the access token: %v; consent until %v after %s (%v), want %s", bearer, set.ConsentExpiresAt,
				e.paths(), err, want)
		}
	}
}

func TestIntrospectionRejectsRedirect(t *testing.T) {
	t.Parallel()
	evil := newEHR(t, map[string]http.HandlerFunc{"": introspection(t, map[string]any{"active": true, "exp": at(day)})})
	e := terms{introspected: reply(http.StatusTemporaryRedirect, "", "Location", evil.URL)}.start(t)
	set := e.confidential()
	set.ClientAuthID, set.IntrospectBearer = "", true
	got, err := portal(doer(), noon, public{}).Refresh(t.Context(), tenant(), set)
	if err != nil || !got.ConsentExpiresAt.IsZero() || len(evil.requests()) != 0 {
		t.Errorf("%v, %v, %d requests at the other server", got.ConsentExpiresAt, err, len(evil.requests()))
	}
}

// stuck refreshes tokens successfully, but never responds to introspection requests.
type stuck struct{ answer string }

func (s stuck) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/introspect" {
		<-r.Context().Done()
		return nil, errors.New("gave up")
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(s.answer)),
	}, nil
}

func TestIntrospectionDelaysRotatedTokensByAtMostTwoSeconds(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]time.Duration{
		`{"access_token":"a","refresh_token":"new"}`: 2 * time.Second,
		`{"access_token":"a"}`:                       5 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			set, err := portal(stuck{answer}, time.Now, &proving{}).Refresh(t.Context(), tenant(), tokens.Set{
				TokenEndpoint: "https://ehr.example/token", IntrospectionEndpoint: "https://ehr.example/introspect",
				RefreshToken: secret.New("old"), ClientAuthID: "auth-7",
			})
			if got := time.Since(started); err != nil || set.AccessToken.Reveal() != "a" || got != want {
				t.Errorf("%s: %v after %v, want tokens after %v", answer, err, got, want)
			}
		})
	}
}
