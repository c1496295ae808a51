package identity_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func TestProviderCheckRejectsUnsafeConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(p *identity.Provider)
		member string // the invalid member; "" if there is none
	}{
		"as it is": {func(*identity.Provider) {}, ""},
		"http in test mode": {func(p *identity.Provider) {
			p.Mode, p.Issuer = org.Test,
				"http://127.0.0.1:1/identity"
		}, ""},
		"an issuer's path":    {func(p *identity.Provider) { p.Issuer = "https://id.example/a/" }, ""},
		"no id":               {func(p *identity.Provider) { p.ID = "" }, "id"},
		"an id with a space":  {func(p *identity.Provider) { p.ID = "a b" }, "id"},
		"no name":             {func(p *identity.Provider) { p.Name = "" }, "name"},
		"a long name":         {func(p *identity.Provider) { p.Name = strings.Repeat("x", 101) }, "name"},
		"no mode":             {func(p *identity.Provider) { p.Mode = "" }, "mode"},
		"no issuer":           {func(p *identity.Provider) { p.Issuer = "" }, "issuer"},
		"http in live mode":   {func(p *identity.Provider) { p.Issuer = "http://id.example" }, "issuer"},
		"an issuer's query":   {func(p *identity.Provider) { p.Issuer = "https://id.example?a" }, "issuer"},
		"an empty query":      {func(p *identity.Provider) { p.Issuer = "https://id.example?" }, "issuer"},
		"an issuer's #":       {func(p *identity.Provider) { p.Issuer = "https://id.example#a" }, "issuer"},
		"an issuer's user":    {func(p *identity.Provider) { p.Issuer = "https://a@id.example" }, "issuer"},
		"no host":             {func(p *identity.Provider) { p.Issuer = "https:///a" }, "issuer"},
		"no client":           {func(p *identity.Provider) { p.ClientID = "" }, "client_id"},
		"no audience":         {func(p *identity.Provider) { p.Audiences = nil }, "audiences"},
		"an empty audience":   {func(p *identity.Provider) { p.Audiences = []string{""} }, "audiences"},
		"a scope of no token": {func(p *identity.Provider) { p.Scope = "profile" }, "scope"},
		"an hour":             {func(p *identity.Provider) { p.MaxAge = 3600 }, ""},
		"more than an hour":   {func(p *identity.Provider) { p.MaxAge = 3601 }, "max_age"},
		"less than no time":   {func(p *identity.Provider) { p.MaxAge = -1 }, "max_age"},
		"an empty acr":        {func(p *identity.Provider) { p.Assurance.ACR = []string{""} }, "assurance"},
		"an empty framework":  {func(p *identity.Provider) { p.Assurance.Frameworks = []string{""} }, "assurance"},
	} {
		provider := authority().Provider
		test.change(&provider)
		err := provider.Check()
		if test.member == "" && err != nil || test.member != "" && (err == nil || fault.Of(err).Field != test.member) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := identity.Simulated("http://127.0.0.1:1").Check(); err != nil {
		t.Error(err)
	}
}

func TestProviderEndpointRequiresHTTPSUnlessIssuerIsHTTP(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{
		"https://id.example/a?b=c": true, "https://other.example/": true, "http://id.example/a": false,
		"": false, "/a": false,
		"https://a@id.example/": false, "https://id.example/#a": false, "javascript:alert(1)": false, "https:a": false,
		"https://id.example/" + strings.Repeat("x", 2<<10): false,
	} {
		if authority().Provider.Endpoint(address) != good {
			t.Errorf("%.60q: want %t", address, good)
		}
	}
	if plain := identity.Simulated("http://127.0.0.1:1"); !plain.Endpoint("http://127.0.0.1:1/a") ||
		!plain.Endpoint("https://id.example/") {
		t.Error("behind http neither is taken")
	}
}

func TestAuthorityRoundTripsAsJSON(t *testing.T) {
	t.Parallel()
	pinned := authority()
	pinned.RedirectURI, pinned.TokenEndpoint, pinned.KeySet, pinned.IssRequired = "https://a", "https://b",
		"https://c", true
	pinned.Provider.MaxAge = 60
	kept, err := json.Marshal(pinned)
	if err != nil {
		t.Fatal(err)
	}
	var read identity.Authority
	if err := json.Unmarshal(kept, &read); err != nil || fmt.Sprint(read) != fmt.Sprint(pinned) {
		t.Errorf("%v, %v", read, err)
	}
}

func TestAuthorityCheckRejectsReturnFromWrongProvider(t *testing.T) {
	t.Parallel()
	code := secret.New("code")
	for name, test := range map[string]struct {
		back     identity.Return
		required bool
		cause    string
	}{
		"a code":               {identity.Return{Code: code}, false, ""},
		"a code of the issuer": {identity.Return{Code: code, Issuer: issuer}, true, ""},
		"a code of another issuer": {
			identity.Return{Code: code, Issuer: "https://evil.example"},
			false,
			"issuer_mismatch",
		},
		"a code of nobody who has to say": {identity.Return{Code: code}, true, "issuer_mismatch"},
		"a code at another's address": {
			identity.Return{Code: code, Issuer: issuer, Provider: "another"},
			true,
			"issuer_mismatch",
		},
		"an error of another issuer": {
			identity.Return{Error: "access_denied", Issuer: "https://evil.example"},
			false,
			"issuer_mismatch",
		},
		"neither code nor error":             {identity.Return{Issuer: issuer}, true, "no_code"},
		"declined":                           {identity.Return{Error: "access_denied"}, false, "declined"},
		"declined, with a code all the same": {identity.Return{Error: "access_denied", Code: code}, false, "declined"},
		"busy": {
			identity.Return{Error: "temporarily_unavailable"},
			false,
			"provider_unavailable",
		},
		"broken": {identity.Return{Error: "server_error"}, false, "provider_unavailable"},
		"an error of its own": {
			identity.Return{Error: "maple.aster@tefca.example"},
			false,
			"provider_refused",
		},
	} {
		a := authority()
		a.IssRequired, test.back.Provider = test.required, cmp.Or(test.back.Provider, a.Provider.ID)
		err := a.Check(test.back)
		if identity.CauseOf(err) != test.cause {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "maple") {
			t.Errorf("%s: the error shows what came: %v", name, err)
		}
	}
}

// TestCausesHavePublicTextAndAction checks each cause's public text and action. The public text must be one or two
// sentences without jargon. The action is intended for the integration's operator.
func TestCausesHavePublicTextAndAction(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		identity.Refused("access_denied", nil), identity.Refused("server_error", nil), identity.Refused("invalid_grant", nil),
		identity.Refused("invalid_client", nil), identity.Unavailable(nil), identity.Unproven(nil), identity.NoToken(),
		authority().Check(identity.Return{}), authority().Check(identity.Return{Issuer: "x"}),
		second(assert(authority(), token(t, about(nil)), now)),
		second(assert(authority(), token(t, about(object{"exp": now.Unix() - 60, "iat": now.Unix() - 90})), now)),
		second(assert(authority(), token(t, about(object{"identity_assurance_level": 1})), now)),
	} {
		shown := fault.Of(err)
		for _, word := range []string{"token", "issuer", "claim", "OAuth", "IAL", "redirect"} {
			if strings.Contains(shown.Public, word) {
				t.Errorf("%s: says %s", identity.CauseOf(err), word)
			}
		}
		if shown.Public == "" || shown.Kind == fault.Internal || identity.ActionOf(identity.CauseOf(err)) == "" {
			t.Errorf("%v: %q (%s), action %q", err, shown.Public, shown.Kind, identity.ActionOf(identity.CauseOf(err)))
		}
		if shown.Kind != fault.Invalid && !strings.Contains(shown.Public, "try again") &&
			!strings.Contains(shown.Public, "please") &&
			!strings.Contains(shown.Public, "Please") && !strings.Contains(shown.Public, "needed") {
			t.Errorf("%s: does not say what to do", identity.CauseOf(err))
		}
	}
	if identity.CauseOf(errors.New("x")) != "" {
		t.Error("an error of somebody else has a cause")
	}
}

func second[T any](_ T, err error) error { return err }

// TestErrorsOmitPersonalData checks the error for a rejected token that contains every claim.
func TestErrorsOmitPersonalData(t *testing.T) {
	t.Parallel()
	said := shapes()["CMS-aligned"]
	said["birthdate"] = "1984"
	text := token(t, said)
	_, err := assert(authority(), text, now)
	printed := fmt.Sprintf("%v %+v %#v %s", err, err, fault.Of(err), fault.Of(err).Public)
	for _, hidden := range []string{"Maple", "Aster", "1984", "53703", "subject-1", nonce, text} {
		if strings.Contains(printed, hidden) {
			t.Errorf("the error shows %q: %s", hidden, printed)
		}
	}
}
