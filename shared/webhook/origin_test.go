package webhook_test

import (
	"testing"

	"recordbridge/shared/webhook"
)

func TestSameOriginComparesSchemeHostAndPort(t *testing.T) {
	t.Parallel()
	const here = "https://hooks.example/a"
	for other, want := range map[string]bool{
		here: true, "https://hooks.example/b?c=d": true, "https://HOOKS.example:443/": true, "http://hooks.example/a": false,
		"https://hooks.example:8443/a": false, "https://hooks.example.evil.example/a": false, "https://other.example/a": false,
		"//hooks.example/a": false, "/a": false, "": false, "https://hooks.example%2f/": false, "https://hooks.example@evil.example/": false,
	} {
		if got := webhook.SameOrigin(here, other); got != want {
			t.Errorf("SameOrigin(%q, %q) = %v", here, other, got)
		}
	}
	if webhook.SameOrigin("", "") || webhook.SameOrigin(":", ":") {
		t.Error("URLs without an origin have the same")
	}
}
