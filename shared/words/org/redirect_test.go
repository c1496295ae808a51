package org_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func TestMatchRedirectRequiresExactMatch(t *testing.T) {
	t.Parallel()
	const uri = "https://app.alder.example/back?keep=1"
	two := []string{uri, "com.alder.app:/back"}
	tests := []struct {
		name       string
		registered []string
		asked      string
		want       string // empty if the URI is rejected
	}{
		{"the registered one", two, uri, uri},
		{"the other registered one", two, "com.alder.app:/back", "com.alder.app:/back"},
		{"none asked, one registered", []string{uri}, "", uri},
		{"none asked, two registered", two, "", ""},
		{"none asked, none registered", nil, "", ""},
		{"none registered", nil, uri, ""},
		{"a longer path", two, uri + "/more", ""},
		{"another query", two, uri + "&more=1", ""},
		{"a fragment", two, uri + "#x", ""},
		{"without the query", two, strings.TrimSuffix(uri, "?keep=1"), ""},
		{"a path that leads back", two, "https://app.alder.example/x/../back?keep=1", ""},
		{"a subdomain", two, "https://evil.app.alder.example/back?keep=1", ""},
		{"a host that begins so", two, "https://app.alder.example.evil.example/back?keep=1", ""},
		{"user information", two, "https://app.alder.example@evil.example/back?keep=1", ""},
		{"a backslash", two, `https://app.alder.example\@evil.example/back?keep=1`, ""},
		{"http", two, "http://app.alder.example/back?keep=1", ""},
		{"upper case", two, "https://APP.alder.example/back?keep=1", ""},
		{"a port", two, "https://app.alder.example:443/back?keep=1", ""},
		{"percent-encoding", two, "https://app.alder.example/%62ack?keep=1", ""},
		{"white space", two, uri + " ", ""},
		{"javascript", two, "javascript:alert(1)//" + uri, ""},
	}
	for _, test := range tests {
		got, err := org.MatchRedirect(ownhosts.Own(), test.registered, test.asked)
		if test.want == "" && !errors.Is(err, fault.Invalid) || test.want != "" && err != nil {
			t.Errorf("%s: error = %v", test.name, err)
		}
		if got.URI() != test.want {
			t.Errorf("%s: URI = %q, want %q", test.name, got.URI(), test.want)
		}
	}
}

func TestRedirectWithAddsParametersToQuery(t *testing.T) {
	t.Parallel()
	tests := []struct{ uri, want string }{
		{"https://a.example/back", "https://a.example/back?error=x%26y%23z"},
		{"https://a.example", "https://a.example?error=x%26y%23z"},
		{"https://a.example/back?", "https://a.example/back?error=x%26y%23z"},
		{"https://a.example/back?keep=1", "https://a.example/back?error=x%26y%23z&keep=1"},
		{"https://a.example/back?error=old&error=older", "https://a.example/back?error=x%26y%23z"},
		{"com.a.app:/back", "com.a.app:/back?error=x%26y%23z"},
		{"com.a.app:back", "com.a.app:back?error=x%26y%23z"},
		{"com.a.app://back", "com.a.app://back?error=x%26y%23z"},
	}
	for _, test := range tests {
		redirect := org.RestoreRedirect(ownhosts.Own(), test.uri)
		if got := redirect.With(url.Values{"error": {"x&y#z"}}); got != test.want {
			t.Errorf("With on %q = %q, want %q", test.uri, got, test.want)
		}
		if redirect.URI() != test.uri {
			t.Errorf("URI = %q after With, want %q", redirect.URI(), test.uri)
		}
	}
	// Malicious values must not break out of the query.
	hostile := url.Values{"error": {"\r\nSet-Cookie: a=b", "https://evil.example", "\x00"}}
	if got := org.RestoreRedirect(ownhosts.Own(), "https://a.example/back").With(hostile); strings.ContainsAny(got,
		"\r\n\x00 ") || !strings.HasPrefix(got, "https://a.example/back?") {
		t.Errorf("With = %q", got)
	}
}

func TestNewRedirectURIRejectsInvalidURIs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		uri        string
		test, live bool
	}{
		{"https://app.alder.example/back", true, true},
		{"https://app.alder.example:8443/back?keep=1", true, true},
		{"HTTPS://app.alder.example/", true, true},
		{"com.alder.app:/back", true, true},
		{"com.alder.app://back", true, true},
		{"http://localhost:3000/back", true, false},
		{"http://127.0.0.1/back", true, false},
		{"http://[::1]:3000/back", true, false},
		{"http://app.alder.example/back", false, false},
		{"http://localhost.evil.example/back", false, false},
		{"http://127.0.0.1.evil.example/back", false, false},
		{"http://127.0.0.1@evil.example/back", false, false},
		{"http://127.1/back", false, false},
		{"http://0x7f000001/back", false, false},
		{"http://[::ffff:127.0.0.1]/back", false, false},
		{"https://user@app.alder.example/back", false, false},
		{"https://user:password@app.alder.example/back", false, false},
		{`https://app.alder.example\@evil.example/back`, false, false},
		{`https://app.alder.example\.evil.example/back`, false, false},
		{"https://*.alder.example/back", false, false},
		{"https://app.alder.example/*", false, false},
		{"https://app.alder.example/back#part", false, false},
		{"https://app.alder.example/back#", false, false},
		{"https://app.alder.example/ba ck", false, false},
		{"https://app.alder.example/back\r\nSet-Cookie:a", false, false},
		{"https://app.alder.example/back\t", false, false},
		{"https://app.alder.example/back\x00", false, false},
		{"https:///back", false, false},
		{"https://:443/back", false, false},
		{"https:app.alder.example", false, false},
		{"//app.alder.example/back", false, false},
		{"/back", false, false},
		{"app.alder.example/back", false, false},
		{"", false, false},
		{"javascript:alert(1)", false, false},
		{"JavaScript:alert(1)", false, false},
		{"data:text/html,x", false, false},
		{"vbscript:x", false, false},
		{"file:///etc/passwd", false, false},
		{"blob:https://app.alder.example/x", false, false},
		{"about:blank", false, false},
		{"view-source:https://app.alder.example", false, false},
		{"myapp:/back", false, false},
		{"mailto:a@alder.example", false, false},
		{"ws://app.alder.example", false, false},
	}
	for _, test := range tests {
		for mode, want := range map[org.Mode]bool{org.Test: test.test, org.Live: test.live} {
			_, err := org.NewRedirectURI(ownhosts.Own(), mode, test.uri)
			if (err == nil) != want || err != nil && !errors.Is(err, fault.Invalid) {
				t.Errorf("NewRedirectURI(%s, %q) = %v, want it accepted: %v", mode, test.uri, err, want)
			}
		}
	}
}
