package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/words/org"
)

func TestRegistrationShowReturnsMostSpecificRegistration(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	id, _ := done("organisation", "create", "-name", "Alder Clinic App")["id"].(string)
	other, _ := done("organisation", "create", "-name", "Maple Clinic App")["id"].(string)
	shared, _ := done("client", "create", "-method", "private_key_jwt", "-key-id", "key")["client_auth_id"].(string)
	own, _ := done("client", "create", "-method", "private_key_jwt", "-org", id, "-mode",
		"test")["client_auth_id"].(string)

	atPlatform := map[string]any{"platform_type": "epic", "mode": "test"}
	everybodys := map[string]any{
		"place": atPlatform, "of": "everybody", "client_id": "ours", "client_auth_id": shared, "method": "private_key_jwt",
		"algorithm": "RS384", "key_id": "key", "scope": "openid fhirUser",
	}
	wantShown(t, "setting it", done("registration", "set", "-mode", "test", "-platform", "Epic", "-client-id", "ours",
		"-client-auth", shared, "-scope", " openid  fhirUser "), everybodys)
	endpoint, _ := done("endpoint", "create", "-fhir-base", nowhere, "-unpinned", "-platform", "epic", "-mode", "test",
		"-name", "Maple Hospital")["endpoint_id"].(string)
	wantShown(t, "an organisation at the endpoint",
		done("registration", "show", "-endpoint", endpoint, "-org", id), everybodys)
	wantShown(t, "everybody at the platform", done("registration", "show", "-platform", "epic"), everybodys)

	atEndpoint := map[string]any{
		"place": map[string]any{"endpoint_id": endpoint}, "of": id, "client_id": "its own", "client_auth_id": own,
		"method":    "private_key_jwt",
		"algorithm": "RS384", "scope": "from the platform and its discovery",
	}
	wantShown(t, "setting an organisation's own",
		done("registration", "set", "-endpoint", endpoint, "-org", id, "-client-id", "its own", "-client-auth",
			own), atEndpoint)
	wantShown(t, "the organisation at the endpoint",
		done("registration", "show", "-endpoint", endpoint, "-org", id), atEndpoint)
	wantShown(t, "the organisation at the platform",
		done("registration", "show", "-platform", "epic", "-org", id), everybodys)
	wantShown(t, "another organisation at the endpoint",
		done("registration", "show", "-endpoint", endpoint, "-org", other), everybodys)

	done("registration", "set", "-endpoint", endpoint, "-org", id, "-client-id", "its new one", "-client-auth", shared)
	replaced := maps.Clone(everybodys)
	maps.Copy(replaced, map[string]any{
		"place": atEndpoint["place"], "of": id, "client_id": "its new one",
		"scope": atEndpoint["scope"],
	})
	wantShown(t, "the organisation after a replacement",
		done("registration", "show", "-endpoint", endpoint, "-org", id), replaced)
	done("registration", "set", "-mode", "test", "-platform", "epic", "-org", id, "-client-id", "at all of them")
	public := map[string]any{
		"place": atPlatform, "of": id, "client_id": "at all of them", "method": "public",
		"scope": atEndpoint["scope"],
	}
	wantShown(t, "the organisation at the platform, after one of its own",
		done("registration", "show", "-platform", "epic", "-org", id), public)

	got := openStored(t, outputs).audited(t, org.Tenant{Mode: org.Test, OrgID: id})
	want := []string{
		"client.created " + own, "registration.set " + endpoint, "registration.set " + endpoint,
		"registration.set epic",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit rows are %q, want %q", got, want)
	}
}

func wantShown(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	got = maps.Clone(got)
	delete(got, "callback") // covered by TestEndpointApproveRequiresNewOriginAfterMove
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestEndpointCreateWithoutClientIDRequiresPlatformRegistration(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	create := []string{
		"endpoint", "create", "-fhir-base", nowhere, "-unpinned", "-platform", "cerner", "-mode", "live",
		"-name", "Maple Hospital",
	}
	_, err := ctl(t, outputs, create...)
	if err == nil || !strings.Contains(err.Error(), "registration set") {
		t.Errorf("without a registration: %v", err)
	}
	done("registration", "set", "-platform", "cerner", "-mode", "test", "-client-id", "sandbox's")
	if _, err = ctl(t, outputs, create...); err == nil {
		t.Error("the other mode's registration was enough")
	}
	done("registration", "set", "-platform", "cerner", "-mode", "live", "-client-id", "ours")
	done(create...)
	if _, err = ctl(t, outputs, append(slices.Clone(create), "-again", "-scope", "openid")...); err == nil ||
		!strings.Contains(err.Error(), "require -client-id") {
		t.Errorf("a scope without a client id: %v", err)
	}

	auth, _ := done("client", "create", "-method", "private_key_jwt", "-algorithm", "ES384")["client_auth_id"].(string)
	own, _ := done(append(slices.Clone(create), "-again", "-client-id", "the site's", "-client-auth", auth, "-access",
		"read")...)["endpoint_id"].(string)
	shown := done("registration", "show", "-endpoint", own, "-mode", "live")
	if scope, _ := shown["scope"].(string); shown["client_id"] != "the site's" || shown["algorithm"] != "ES384" ||
		!strings.Contains(scope, "patient/Patient.read") {
		t.Errorf("the endpoint's own registration is %v", shown)
	}
}

func TestRegistrationErrorsSuggestRemedy(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	id, _ := done("organisation", "create", "-name", "Alder Clinic App")["id"].(string)
	elliptic, _ := done("client", "create", "-method", "private_key_jwt", "-algorithm",
		"ES384")["client_auth_id"].(string)
	own, _ := done("client", "create", "-method", "private_key_jwt", "-org", id, "-mode",
		"test")["client_auth_id"].(string)
	printed, err := ctlWith(t, outputs, "secret", "client", "create", "-method", "client_secret_post", "-secret-file",
		"-",
		"-origin", "https://a.example")
	if err != nil {
		t.Fatal(err)
	}
	post, _ := printed["client_auth_id"].(string)
	endpoint, _ := done("endpoint", "create", "-fhir-base", nowhere, "-unpinned", "-platform", "epic", "-mode", "test",
		"-client-id", "c",
		"-name", "X")["endpoint_id"].(string)
	unknown := "00000000-0000-4000-8000-000000000000"
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"set", "-client-id", "c"}, "Set either -endpoint or -platform"},
		{
			[]string{"set", "-mode", "test", "-client-id", "c", "-platform", "epic", "-endpoint", endpoint},
			"Set either -endpoint or -platform",
		},
		{[]string{"set", "-mode", "test", "-client-id", "c", "-platform", "epc"}, "there are athena"},
		{[]string{"set", "-client-id", "c", "-platform", "epic", "-mode", "production"}, "test or live"},
		{[]string{"set", "-mode", "test", "-client-id", "c", "-platform", "epic", "-org", unknown}, "not found"},
		{[]string{"set", "-mode", "test", "-client-id", "c", "-platform", "epic", "-org", ""}, "-org is empty"},
		{
			[]string{"set", "-mode", "test", "-client-id", "c", "-platform", "epic", "-client-auth", ""},
			"-client-auth is empty",
		},
		{[]string{"set", "-client-id", "c", "-endpoint", unknown}, "not found"},
		{[]string{"set", "-client-id", "c", "-endpoint", endpoint, "-mode", "live"}, "in test mode, not in live mode"},
		{[]string{"set", "-mode", "test", "-platform", "epic"}, "nothing to set"},
		{
			[]string{"set", "-mode", "test", "-platform", "epic", "-scope", "openid"},
			"-client-id: svc_invalid_request: A registration needs the client ID",
		},
		{[]string{"set", "-mode", "test", "-platform", "epic", "-client-id", "c\n"}, "needs the client ID"},
		{
			[]string{"set", "-mode", "test", "-platform", "epic", "-client-id", "c", "-scope", "openid\nfhirUser"},
			"scopes can't have",
		},
		{
			[]string{"set", "-mode", "test", "-platform", "epic", "-client-id", "c", "-scope", "open\x00id"},
			"scopes can't have",
		},
		{
			[]string{"set", "-mode", "test", "-platform", "epic", "-client-id", "c", "-client-auth", unknown},
			"run client create",
		},
		{
			[]string{"set", "-mode", "test", "-platform", "epic", "-client-id", "c", "-client-auth", own},
			"for all organisations",
		},
		{
			[]string{"set", "-platform", "epic", "-client-id", "c", "-client-auth", own, "-org", id, "-mode", "live"},
			"not found for",
		},
		{
			[]string{"set", "-mode", "test", "-platform", "epic", "-client-id", "c", "-client-auth", post},
			"Epic doesn't accept client_secret_post clients. It accepts private_key_jwt, public.",
		},
		{
			[]string{"set", "-endpoint", endpoint, "-client-id", "c", "-client-auth", elliptic},
			"Epic doesn't accept ES384. It accepts RS384.",
		},
		{[]string{"set", "-mode", "test", "-platform", "cigna", "-client-id", "c"}, "doesn't accept public clients"},
		{[]string{"show", "-mode", "test", "-platform", "quest"}, "registration set"},
		{[]string{"show"}, "Set either -endpoint or -platform"},
	} {
		_, err := ctl(t, outputs, append([]string{"registration"}, test.args...)...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.args, err, test.want)
		}
	}
	create := []string{
		"endpoint", "create", "-fhir-base", nowhere, "-unpinned", "-again", "-mode", "test", "-name", "X", "-client-id",
		"c", "-platform",
	}
	for platform, args := range map[string][]string{
		"cigna": nil, "epic": {"-client-auth", elliptic},
		"humana": {"-client-auth", own}, "va": {"-client-auth", ""},
	} {
		if _, err := ctl(t, outputs, append(append(slices.Clone(create), platform), args...)...); err == nil {
			t.Errorf("an endpoint of %s with %q was accepted", platform, args)
		}
	}
}
