package org_test

import (
	"net/url"
	"testing"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/infra/testkit/spelling"
	"recordbridge/shared/words/org"
)

// TestRedirectRejectsServiceURLVariants covers URIs that an earlier release registered, in every spelling that it
// accepted.
func TestRedirectRejectsServiceURLVariants(t *testing.T) {
	t.Parallel()
	own := ownhosts.Own()
	for _, all := range [][]string{
		spelling.Of("api.recordbridge.example", "", "/v1/bridge/connect?attempt=x"),
		spelling.Of("127.0.0.1", "4566", "/v1/bridge/connect?attempt=x"),
	} {
		for _, text := range all {
			for _, asked := range []string{text, ""} {
				if got, err := org.MatchRedirect(own, []string{text}, asked); err == nil {
					t.Errorf("%q leads to %s", text, got.With(nil))
				}
			}
			if got := org.RestoreRedirect(own, text); got.URI() != "" || got.With(url.Values{"error": {"x"}}) != "?error=x" {
				t.Errorf("restored %q leads to %s", text, got.With(nil))
			}
			if uri, err := org.NewRedirectURI(own, org.Test, text); err == nil {
				t.Errorf("%q is registered as %s", text, uri)
			}
		}
	}
}

func TestNewRedirectURIAcceptsLoopbackApplication(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"http://localhost:3000/callback", "http://127.0.0.1:3000/callback", "com.alder.app:/back",
		"https://b\u00fccher.example/back",
	} {
		registered, err := org.NewRedirectURI(ownhosts.Own(), org.Test, uri)
		if err != nil {
			t.Errorf("%s: %v", uri, err)
		}
		if got, err := org.MatchRedirect(ownhosts.Own(), []string{registered}, registered); err != nil ||
			got.URI() != registered {
			t.Errorf("%s: matched %q: %v", uri, got.URI(), err)
		}
	}
}
