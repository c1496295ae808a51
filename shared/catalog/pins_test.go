package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog"
)

func hospital() catalog.Addresses {
	return catalog.Addresses{
		Issuer: "https://auth.hospital.example", Authorization: "https://auth.hospital.example/authorize",
		Token: "https://auth.hospital.example:443/token", Keys: "https://keys.hospital.example/jwks",
		Userinfo: "https://auth.hospital.example/userinfo", Revocation: "https://auth.hospital.example/revoke",
	}
}

func TestDeparturesIsEmptyWhenOriginsAreUnchanged(t *testing.T) {
	t.Parallel()
	pins, now := catalog.PinsOf(hospital()), hospital()
	now.Authorization, now.Token = "https://AUTH.hospital.example/v2/authorize?tenant=1",
		"https://auth.hospital.example/v2/token"
	now.Keys, now.Userinfo, now.Revocation = "", "", ""
	if left := pins.Departures(now); len(left) != 0 {
		t.Errorf("got %v", left)
	}
}

func TestDeparturesReportsRoleOfChangedPin(t *testing.T) {
	t.Parallel()
	const evil = "https://evil.example"
	tests := map[string]struct {
		change func(*catalog.Addresses)
		from   string
		to     string
	}{
		"issuer": {func(a *catalog.Addresses) { a.Issuer = evil }, "https://auth.hospital.example", evil},
		"authorization": {
			func(a *catalog.Addresses) { a.Authorization = evil + "/a" },
			"https://auth.hospital.example", evil,
		},
		"token": {
			func(a *catalog.Addresses) { a.Token = "http://auth.hospital.example/token" },
			"https://auth.hospital.example", "http://auth.hospital.example",
		},
		"keys": {
			func(a *catalog.Addresses) { a.Keys = "https://keys.hospital.example:8443/" },
			"https://keys.hospital.example", "https://keys.hospital.example:8443",
		},
		"userinfo":      {func(a *catalog.Addresses) { a.Userinfo = evil }, "https://auth.hospital.example", evil},
		"revocation":    {func(a *catalog.Addresses) { a.Revocation = evil }, "https://auth.hospital.example", evil},
		"introspection": {func(a *catalog.Addresses) { a.Introspection = evil }, "", evil}, // No origin was pinned.
	}
	for role, tt := range tests {
		now := hospital()
		tt.change(&now)
		want := []catalog.Departure{{Role: role, From: tt.from, To: tt.to}}
		if diff := cmp.Diff(want, catalog.PinsOf(hospital()).Departures(now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", role, diff)
		}
	}
	silent := hospital()
	silent.Issuer = ""
	if left := catalog.PinsOf(hospital()).Departures(silent); len(left) != 1 || left[0].Role != "issuer" {
		t.Errorf("a discovery that no longer names its issuer: %v", left)
	}
}

func TestUntrustedListsUnknownOrigins(t *testing.T) {
	t.Parallel()
	const base = "https://fhir.hospital.example/r4"
	known := []string{"https://auth.hospital.example"}
	got := hospital().Untrusted(base, known)
	want := []catalog.Departure{{Role: "keys", To: "https://keys.hospital.example"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	at := catalog.Addresses{Issuer: base, Authorization: base + "/authorize", Token: base + "/token"}
	if abroad := at.Untrusted(base, nil); len(abroad) != 0 {
		t.Errorf("a server at its own base: %v", abroad)
	}
}

func TestOriginIsNormalised(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://a.example":            "https://a.example",
		"HTTPS://A.example:443/x?y#z":  "https://a.example",
		"https://a.example:/":          "https://a.example",
		"http://a.example:80":          "http://a.example",
		"http://127.0.0.1:4566/v1":     "http://127.0.0.1:4566",
		"https://[2001:db8::1]:443/":   "https://[2001:db8::1]",
		"https://a.example:444":        "https://a.example:444",
		"https://user@a.example":       "https://a.example",
		"urn:x":                        "",
		"/relative":                    "",
		"https:opaque":                 "",
		"ftp://a.example":              "",
		"https://a.example.evil.test/": "https://a.example.evil.test",
		"https://:443":                 "",
	} {
		if got := catalog.Origin(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}
