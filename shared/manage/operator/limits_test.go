package operator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const redirect = "https://app.example/return"

func (r *fixture) organisation(t *testing.T) org.Tenant {
	t.Helper()
	made, err := r.operator.Organisations.Create(t.Context(),
		org.Organisation{Name: "Alder Clinic App", Plan: org.Free, LiveAccess: org.LiveGranted})
	if err != nil {
		t.Fatal(err)
	}
	return org.Tenant{Mode: org.Live, OrgID: made.ID}
}

func TestCreateWebhookLimitsOrganisationTo25Webhooks(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tenant := r.organisation(t)
	for i := range 25 {
		address := fmt.Sprintf("https://app.example/hooks/%d", i)
		if _, _, err := r.operator.Webhooks.Create(t.Context(), webhook.Draft{Tenant: tenant, URL: address}); err != nil {
			t.Fatalf("webhook %d: %v", i+1, err)
		}
	}
	sub, signing, err := r.operator.Webhooks.Create(t.Context(), webhook.Draft{Tenant: tenant, URL: redirect})
	if !errors.Is(err, fault.Conflict) || sub.ID != "" || !signing.Empty() {
		t.Errorf("the 26th: %q %v, want fault.Conflict and no secret", sub.ID, err)
	}
	if all, err := r.operator.Webhooks.List(t.Context(), tenant); err != nil || len(all) != 25 {
		t.Errorf("there are %d (%v)", len(all), err)
	}
	other := tenant
	other.Mode = org.Test
	if _, _, err := r.operator.Webhooks.Create(t.Context(), webhook.Draft{Tenant: other, URL: redirect}); err != nil {
		t.Errorf("in the other mode: %v", err)
	}
}

func TestAddKeyLimitsCredentialToTwoLiveKeys(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	made, _, err := r.operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: r.organisation(t), Redirects: []string{redirect}})
	if err != nil {
		t.Fatal(err)
	}
	public := made.PublicID()
	for range 2 { // add a second key, then a third one that replaces the revoked key
		if _, second, err := r.operator.Credentials.AddKey(t.Context(), public); err != nil || second.Empty() {
			t.Fatal(err)
		}
		if _, third, err := r.operator.Credentials.AddKey(t.Context(), public); !errors.Is(err, fault.Conflict) ||
			!third.Empty() {
			t.Errorf("beside two live keys: %v, want fault.Conflict", err)
		}
		found, err := r.operator.Credentials.Show(t.Context(), public)
		oldest := slices.IndexFunc(found.Keys, func(k org.Key) bool { return k.RevokedAt.IsZero() })
		one := operator.Revocation{KeyID: found.Keys[oldest].ID}
		for run, want := range []int{1, 0} {
			after, gone, revoking := r.operator.Credentials.Revoke(t.Context(), public, one)
			if err = errors.Join(err, revoking); err != nil || len(gone) != want || len(after.Keys) != len(found.Keys) {
				t.Fatalf("run %d revoked %v: %v", run, gone, err)
			}
		}
	}
	all := operator.Revocation{}
	if _, gone, err := r.operator.Credentials.Revoke(t.Context(), public, all); !errors.Is(err, fault.Conflict) ||
		len(gone) > 0 {
		t.Errorf("the last keys: %v, want fault.Conflict", err)
	}
	all.AllowNone = true
	if _, gone, err := r.operator.Credentials.Revoke(t.Context(), public, all); err != nil || len(gone) != 1 {
		t.Errorf("with AllowNone: %d keys revoked, %v", len(gone), err)
	}
	unknown := operator.Revocation{KeyID: ids.Random()}
	if _, _, err := r.operator.Credentials.Revoke(t.Context(), public, unknown); !errors.Is(err, fault.NotFound) {
		t.Errorf("an unknown key: %v, want fault.NotFound", err)
	}
}

func TestOperatorRejectsInvalidOrExcessiveFields(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tenant := r.organisation(t)
	for _, redirects := range [][]string{nil, slices.Repeat([]string{redirect}, 26), {"http://app.example/return"}} {
		if _, private, err := r.operator.Credentials.Create(t.Context(),
			operator.CredentialDraft{Tenant: tenant, Redirects: redirects}); !errors.Is(err, fault.Invalid) || !private.Empty() {
			t.Errorf("%d redirect URIs: %v", len(redirects), err)
		}
	}
	if _, _, err := r.operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: tenant, Redirects: slices.Repeat([]string{redirect}, 25)}); err != nil {
		t.Error(err)
	}
	addresses := slices.Repeat([]string{"ops@alder.example.org"}, 10)
	if err := r.operator.Organisations.SetEmails(t.Context(), tenant, addresses); err != nil {
		t.Error(err)
	}
	for _, emails := range [][]string{
		append(addresses, addresses[0]),
		{"Alder <ops@alder.example.org>"},
		{"alder"},
		{strings.Repeat("a", 243) + "@example.org"},
	} {
		if err := r.operator.Organisations.SetEmails(t.Context(), tenant, emails); !errors.Is(err, fault.Invalid) {
			t.Errorf("%d addresses: %v", len(emails), err)
		}
	}
	if kept, err := r.operator.Organisations.Show(t.Context(), tenant); err != nil ||
		!slices.Equal(kept.Emails, addresses) {
		t.Errorf("kept %v (%v)", kept.Emails, err)
	}
	for _, wrong := range []org.Organisation{
		{Name: " ", Plan: org.Free},
		{Name: "Alder", Plan: "gold"},
		{Name: "Alder", Plan: org.Paid, WebsiteURI: "http://alder.example"},
	} {
		if _, err := r.operator.Organisations.Create(t.Context(), wrong); !errors.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
