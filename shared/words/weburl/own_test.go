package weburl_test

import "testing"

func TestIsSameOriginComparesSchemeHostAndPort(t *testing.T) {
	t.Parallel()
	own := elsewhere(t)
	const here = "https://hooks.example/a"
	for other, want := range map[string]bool{
		here: true, "https://hooks.example/b?c=d": true, "https://HOOKS.example:443/": true, "http://hooks.example/a": false,
		"https://hooks.example:8443/a": false, "https://hooks.example.evil.example/a": false,
		"https://other.example/a": false,
		"//hooks.example/a":       false, "/a": false, "": false, "https://hooks.example%2f/": false,
		"https://hooks.example@evil.example/": false,
	} {
		if got := own.IsSameOrigin(here, other); got != want {
			t.Errorf("IsSameOrigin(%q, %q) = %v", here, other, got)
		}
	}
	if own.IsSameOrigin("", "") || own.IsSameOrigin(":", ":") {
		t.Error("URLs without an origin have the same")
	}
}
