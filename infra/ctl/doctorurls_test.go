package main

import (
	"strings"
	"testing"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

func TestDoctorReportsStoredURLsThatPointToService(t *testing.T) {
	outputs, _, _ := newPublisher(t)
	do := doer(t, outputs)
	id := do("organisation", "create", "-name", "Alder")["id"].(string)
	tenant, rows := org.Tenant{Mode: org.Live, OrgID: id}, openStored(t, outputs).control
	const hostile = "https://ctl-\uff41pi.execute-api.us-east-1.amazonaws.com"
	stored, err := store.Organisations(rows).Organisation(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	stored.WebsiteURI, stored.PrivacyPolicyURI, stored.TermsURI, stored.LogoURI = hostile, hostile, hostile, hostile
	credential := org.Credential{
		ID: ids.Random(), Tenant: tenant,
		RedirectURIs: []string{hostile + "/x", "https://app.alder.example/back"}, AllowedOrigins: []string{"https://*"},
	}
	hook := webhook.Subscription{ID: ids.Random(), Tenant: tenant, URL: hostile + "/hook"}.WithTypes(nil)
	for _, err := range []error{
		store.Organisations(rows).SaveOrganisation(t.Context(), stored),
		store.Callers(rows).CreateCredential(t.Context(), credential),
		store.Hooks(rows).CreateSubscription(t.Context(), hook),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	told, code := examined(t, outputs)
	for _, want := range []string{
		"Organisation " + id + ": the website", "Organisation " + id + ": the privacy policy",
		"Organisation " + id + ": the terms", "Organisation " + id + ": the logo",
		"Credential " + credential.ID + " of " + id + " in live mode: the redirect URI", "in live mode: the allowed origin",
		"Webhook " + hook.ID + " of " + id + " in live mode: the URL",
	} {
		if strings.Count(told, want) != 1 {
			t.Errorf("%q is not told once", want)
		}
	}
	if code != 1 || strings.Contains(told, "\uff41") || strings.Contains(told, "app.alder.example") {
		t.Errorf("exit code %d, %s", code, told)
	}
}
