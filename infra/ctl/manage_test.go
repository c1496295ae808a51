package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/words/org"
)

// listing runs a command that prints a list, and returns that list.
func listing(t *testing.T, outputs, line string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), append([]string{"-outputs", outputs}, strings.Fields(line)...), to(&out)); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatalf("%s printed %s: %v", line, out.String(), err)
	}
	return rows
}

// step is a command in a scenario, with its expected output or error.
type step struct{ line, prints, refused string }

func play(t *testing.T, outputs string, steps []step) {
	t.Helper()
	for _, s := range steps {
		printed, err := ctl(t, outputs, strings.Fields(s.line)...)
		if s.refused == "" && (err != nil || !strings.Contains(fmt.Sprint(printed), s.prints)) {
			t.Errorf("%s: printed %v, want %q (%v)", s.line, printed, s.prints, err)
		}
		if s.refused != "" && !strings.Contains(errorText(err), s.refused) {
			t.Errorf("%s: %v, want %q", s.line, err, s.refused)
		}
	}
}

func TestManagementCommandsUpdateObjectsAndAreAudited(t *testing.T) {
	outputs := newStack(t)
	w := newWorld(t, outputs)
	tenant, hook := "-org "+w.org+" -mode test", "-org "+w.org+" -mode test -id "+w.hook
	own := doer(t, outputs)("client", "create", "-method", "private_key_jwt", "-org", w.org, "-mode",
		"test")["client_auth_id"].(string)
	for line, want := range map[string]string{
		"client list -id " + own:                        "method:private_key_jwt mode:test of:" + w.org,
		"credential list " + tenant:                     w.publicID,
		"credential list -org " + w.org + " -mode live": "",
		"webhook list " + tenant:                        w.hook,
		"endpoint list -mode test":                      w.endpoint,
		"client list":                                   own,
		"registration list":                             "ours",
	} {
		if got := fmt.Sprint(listing(t, outputs, line)); !strings.Contains(got, want) || (want == "") != (got == "[]") {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	play(t, outputs, []step{
		{line: "organisation show -org " + w.org, prints: "emails:[ops@app.example]"},
		{
			line:   "organisation set -org " + w.org + " -name Birch -plan paid -website https://birch.example",
			prints: "name:Birch",
		},
		{line: "organisation set -org " + w.org + " -without website", prints: "emails:[ops@app.example]"},
		{line: "organisation set -org " + w.org + " -without website -website https://birch.example", refused: "-without"},
		{
			line: "organisation show -org " + w.org,
			prints: "plan:paid privacy_policy_uri: purpose: purpose_es: radius:<nil> status:active terms_uri: " +
				"verified_emails:[ops@app.example] website_uri:",
		},
		{
			line:   "organisation set -org " + w.org + " -terms https://birch.example/terms -accent #1a5fb4",
			prints: "accent:#1a5fb4",
		},
		{line: "organisation show -org " + w.org, prints: "terms_uri:https://birch.example/terms"},
		{line: "organisation set -org " + w.org + " -accent #1A5FB4", refused: "An accent must be a colour"},
		{line: "organisation set -org " + w.org + " -accent red;}", refused: "An accent must be a colour"},
		{
			line:    "organisation set -org " + w.org + " -terms http://birch.example/terms",
			refused: "-terms: svc_invalid_request: An organisation's URLs must be https",
		},
		{line: "organisation set -org " + w.org + " -without accent -without terms", prints: "accent: "},
		{
			line:   "organisation set -org " + w.org + " -radius 0 -font 'Iowan',serif -color-scheme dark",
			prints: `color_scheme:dark created_at`,
		},
		{line: "organisation show -org " + w.org, prints: `font:"Iowan", serif `},
		{line: "organisation show -org " + w.org, prints: "radius:0 "},
		{line: "organisation set -org " + w.org + " -radius 25", refused: "-radius: svc_invalid_request: A corner radius"},
		{line: "organisation set -org " + w.org + " -font url(x)", refused: "-font: svc_invalid_request: A font must be"},
		{
			line:    "organisation set -org " + w.org + " -color-scheme night",
			refused: "-color-scheme: svc_invalid_request: A colour scheme must be",
		},
		{line: "organisation set -org " + w.org + " -without radius -radius 3", refused: "-without"},
		{line: "organisation set -org " + w.org + " -without radius -without font", prints: "radius:<nil>"},
		{line: "organisation show -org " + w.org, prints: "color_scheme:dark"},
		{line: "organisation set -org " + w.org + " -color-scheme auto", prints: "color_scheme:auto"},
		{
			line:   "organisation set -org " + w.org + " -purpose Care -purpose-es Atención",
			prints: "purpose:Care purpose_es:Atención radius",
		},
		{line: "organisation set -org " + w.org + " -without purpose-es", prints: "purpose:Care purpose_es: radius"},
		{line: "organisation set -org " + w.org + " -purpose-es=", refused: "-purpose-es is empty"},
		{
			line:    "organisation set -org " + w.org + " -purpose <b>",
			refused: "-purpose: svc_invalid_request: A purpose can't contain double quotation marks",
		},
		{
			line:    "organisation set -org " + w.org + " -purpose-es https://evil.example",
			refused: "-purpose-es: svc_invalid_request: A purpose can't contain a web or e-mail address",
		},
		{line: "organisation set -org " + w.org + " -without purpose -purpose Care", refused: "-without"},
		{line: "organisation set -org " + w.org + " -without purpose", prints: "purpose: purpose_es: radius"},
		{line: "organisation resume -org " + w.org, refused: "is already active"},
		{line: "organisation remove -yes -org " + w.org, refused: "Suspend it first."},

		{
			line: "credential set -public-id " + w.publicID +
				" -add-redirect com.example.app:/return -add-origin https://birch.example",
			prints: "origins:[https://app.example https://birch.example]",
		},
		{
			line: "credential set -public-id " + w.publicID +
				" -remove-redirect https://app.example/return -remove-origin https://app.example",
			prints: "redirect_uris:[com.example.app:/return]",
		},
		{
			line:    "credential set -public-id " + w.publicID + " -remove-redirect https://app.example/return",
			refused: "-remove-redirect: ",
		},
		{
			line:    "credential set -public-id " + w.publicID + " -remove-redirect com.example.app:/return",
			refused: "needs a redirect URI",
		},
		{line: "credential set -public-id " + w.publicID + " -remove-origin https://birch.example", refused: "-any-origin"},
		{line: "credential show -public-id " + w.publicID, prints: "origins:[https://birch.example]"},
		{line: "credential set -public-id " + w.publicID + " -any-origin", prints: "origins:[]"},
		{
			line:    "credential show -public-id " + strings.Replace(w.publicID, "test", "live", 1),
			refused: "Unknown public ID",
		},
		{line: "credential set -public-id " + w.publicID + " -note Front-desk", prints: "note:Front-desk"},
		{line: "credential set -public-id " + w.publicID + " -note=", prints: "note: "},
		{line: "credential remove -yes -public-id " + w.publicID, refused: "Revoke all its keys first."},

		{line: "webhook set " + hook + " -url https://birch.example/hook", prints: "url:https://birch.example/hook"},
		{line: "webhook show " + hook, prints: "patient.connection_success] url:https://birch.example/hook"},
		{line: "webhook show -org " + w.org + " -mode live -id " + w.hook, refused: "not found for"},
		{line: "webhook remove -yes " + hook, refused: "Disable it first"},

		{line: "endpoint set -id " + w.endpoint + " -name Birch", prints: "name:Birch"},
		{line: "endpoint remove -yes -id " + w.endpoint, refused: "endpoint disable"},
		{line: "endpoint disable -yes -id " + w.endpoint, prints: "status:suspended"},
		{line: "endpoint disable -yes -id " + w.endpoint, refused: "is already suspended"},
		// omitted flags leave their fields unchanged
		{line: "endpoint show -id " + w.endpoint, prints: "overrides:authorize: {aud: none}"},
		{line: "endpoint enable -id " + w.endpoint, prints: "status:active"},
		{line: "endpoint disable -yes -id " + w.endpoint, prints: "status:suspended"},
		{line: "endpoint remove -yes -id " + w.endpoint, refused: "registration of all organisations"},

		{
			line:   "registration set -endpoint " + w.endpoint + " -client-auth " + w.client,
			prints: "client_auth_id:" + w.client,
		},
		{line: "client remove -yes -id " + w.client, refused: "The registration ours of all organisations uses the client"},
		{
			line:    "registration remove -yes -endpoint " + w.endpoint + " -org " + w.org,
			refused: "There is no registration of organisation",
		},
		{line: "registration set -endpoint " + w.endpoint + " -org " + w.org + " -client-id own", prints: "of:" + w.org},

		{line: "organisation suspend -yes -org " + w.org, prints: "status:inactive"},
		{line: "organisation remove -yes -org " + w.org, refused: "1 credentials in test mode"},
		{line: "organisation remove -yes -org " + w.org, refused: "1 webhooks in test mode"},
		{line: "organisation remove -yes -org " + w.org, refused: "the registration own, the client " + own},

		{line: "registration remove -yes -endpoint " + w.endpoint, prints: "client_id:ours"},
		{line: "endpoint remove -yes -id " + w.endpoint, refused: "registration of organisation " + w.org},
		{line: "registration remove -yes -endpoint " + w.endpoint + " -org " + w.org, prints: "client_id:own"},
		{line: "registration show -endpoint " + w.endpoint, refused: "not registered there"},
		{line: "endpoint remove -yes -id " + w.endpoint, prints: "removed:true"},
		{line: "endpoint show -id " + w.endpoint, refused: "not found"},
		{line: "client remove -yes -id " + w.client, prints: "removed:true"},
		{line: "client remove -yes -id " + own + " " + tenant, prints: "removed:true"},
		{line: "client list -id " + w.client, refused: "-id: svc_not_found: Client"},
		{line: "webhook disable " + hook, prints: "disabled:true"},
		{line: "webhook remove -yes " + hook, prints: "removed:true"},
		{line: "credential revoke -yes -public-id " + w.publicID + " -all -allow-none", prints: "changed:true live_keys:0"},
		{line: "credential remove -yes -public-id " + w.publicID, prints: "removed:true"},
		{line: "credential show -public-id " + w.publicID, refused: "Unknown public ID"},
		{line: "organisation remove -yes -org " + w.org, prints: "removed:true"},
		{line: "organisation show -org " + w.org, refused: "not found"},
	})
	for _, line := range []string{"organisation list", "endpoint list", "client list", "registration list"} {
		if left := listing(t, outputs, line); len(left) > 0 {
			t.Errorf("%s: %v is left", line, left)
		}
	}
	checkAudited(t, outputs, w)
}

func checkAudited(t *testing.T, outputs string, w world) {
	t.Helper()
	found := openStored(t, outputs)
	rows := slices.Concat(
		found.audited(t, org.Tenant{Mode: org.Test, OrgID: w.org}),
		found.audited(t, org.Tenant{Mode: org.Live, OrgID: w.org}),
		found.audited(t, org.Tenant{}),
	)
	for _, action := range []string{
		"organisation.changed", "organisation.suspended", "organisation.removed", "credential.changed", "credential.removed",
		"key.revoked",
		"webhook.moved", "webhook.disabled", "webhook.removed", "endpoint.renamed", "endpoint.disabled", "endpoint.enabled",
		"endpoint.removed",
		"client.removed", "registration.removed",
	} {
		if !slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, action+" ") }) {
			t.Errorf("there is no audit row %s", action)
		}
	}
}
