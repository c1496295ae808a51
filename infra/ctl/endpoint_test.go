package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEndpointOverridesAreValidated(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	create := []string{
		"endpoint", "create", "-mode", "test", "-fhir-base", nowhere, "-unpinned", "-platform", "epic", "-client-id", "c",
		"-name", "Maple Hospital",
	}
	if _, err := ctl(t, outputs, append(create, "-override", "authorize: {aud: sometimes}")...); err == nil ||
		!strings.Contains(err.Error(), "authorize.aud") {
		t.Errorf("creating one with broken overrides: %v", err)
	}
	id, _ := done(append(create, "-override", "authorize: {aud: none}")...)["endpoint_id"].(string)
	for _, overrides := range []string{"tokens: {consent: 720h}", ""} {
		if got := done("endpoint", "set", "-id", id, "-override", overrides); got["overrides"] != overrides {
			t.Errorf("printed %v", got)
		}
	}
	for name, args := range map[string][]string{
		"authorize: no field audience": {"-id", id, "-override", "authorize: {audience: none}"},
		"not found":                    {"-id", "00000000-0000-4000-8000-000000000000", "-override", ""},
	} {
		_, err := ctl(t, outputs, append([]string{"endpoint", "set"}, args...)...)
		if want := name[strings.LastIndex(name, " ")+1:]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestEndpointApproveRequiresNewOriginAfterMove(t *testing.T) {
	outputs := newStackAt(t, "http://127.0.0.1:4566/v1") // permits requests to loopback addresses
	done := doer(t, outputs)
	login := "http://127.0.0.1:1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/smart-configuration") {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprintf(w,
			`{"authorization_endpoint": %q, "token_endpoint": %q, "code_challenge_methods_supported": ["S256"]}`,
			login+"/authorize", login+"/token")
	}))
	defer server.Close()
	base := server.URL + "/r4"
	told := done("registration", "show", "-callback", "-mode", "test", "-fhir-base", base)
	address, _ := told["callback"].(string)
	if !strings.HasPrefix(address, "http://127.0.0.1:4566/v1/bridge/callback/") || told["registered"] != false {
		t.Errorf("told %v", told)
	}
	create := func(more ...string) []string {
		return append([]string{
			"endpoint", "create", "-mode", "test", "-fhir-base", base, "-name", "Maple Hospital", "-client-id",
			"ours",
		}, more...)
	}
	if _, err := ctl(t, outputs, create()...); err == nil || !strings.Contains(err.Error(), "-origin "+login) {
		t.Errorf("with an authorization server elsewhere: %v", err)
	}
	made := done(create("-origin", login)...)
	if made["callback"] != address || made["platform_type"] != "smart" || made["pinned"] != true {
		t.Errorf("made %v, want the address %s", made, address)
	}
	id, _ := made["endpoint_id"].(string)
	before := login
	login = "http://127.0.0.1:2"
	if _, err := ctl(t, outputs, "endpoint", "approve", "-id", id); err == nil ||
		!strings.Contains(err.Error(), before+" -> "+login) {
		t.Errorf("a move that was not seen: %v", err)
	}
	changed, _ := done("endpoint", "approve", "-id", id, "-origin", login)["changed"].([]any)
	if len(changed) != 2 {
		t.Errorf("changed %v", changed)
	}
	pins := map[string]any{"authorization": login, "token": login}
	if diff := cmp.Diff(pins, done("endpoint", "show", "-id", id)["pins"]); diff != "" {
		t.Errorf("pins (-want +got):\n%s", diff)
	}
	for mode, want := range map[string]int{"test": 1, "live": 0} {
		var out bytes.Buffer
		err := run(t.Context(), []string{"-outputs", outputs, "endpoint", "list", "-mode", mode}, to(&out))
		if err != nil || strings.Count(out.String(), id) != want {
			t.Errorf("the endpoints of %s mode are %s (%v)", mode, out.String(), err)
		}
	}
	if shown := done("registration", "show", "-endpoint", id); shown["callback"] != address {
		t.Errorf("the registration is %v", shown)
	}
}
