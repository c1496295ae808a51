package operator_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func (r *fixture) newcomer(t *testing.T, name string, stage org.LiveAccess) org.Tenant {
	t.Helper()
	made, err := r.operator.Organisations.Create(t.Context(), org.Organisation{
		Name: name, Plan: org.Free, LiveAccess: stage, PrivacyPolicyURI: "https://alder.example/privacy",
		WebsiteURI: "https://alder.example",
	})
	expect.NoError(t, err)
	return org.Tenant{Mode: org.Live, OrgID: made.ID}
}

func TestCredentialsRejectLiveKeysUntilLiveAccessIsGranted(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	live := r.newcomer(t, "Alder", org.LiveGranted)
	made, _, err := r.operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: live, Redirects: []string{redirect}})
	expect.NoError(t, err)
	_, err = r.operator.LiveReviews.Withdraw(t.Context(), live, "Its website is gone.")
	expect.NoError(t, err)
	_, _, created := r.operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: live, Redirects: []string{redirect}})
	_, _, added := r.operator.Credentials.AddKey(t.Context(), made.PublicID())
	fresh := r.newcomer(t, "Birch", "")
	_, _, first := r.operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: fresh, Redirects: []string{redirect}})
	for what, err := range map[string]error{"a credential": created, "a key": added, "a newcomer's credential": first} {
		if !errors.Is(err, fault.Forbidden) || fault.Of(err).Code != fault.CodeLiveAccessRequired {
			t.Errorf("%s: %v", what, err)
		}
	}
	fresh.Mode = org.Test
	_, _, err = r.operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: fresh, Redirects: []string{redirect}})
	expect.NoError(t, err)
}

func TestLiveAccessDecisionIsFinalPerStage(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	live, all := r.newcomer(t, "Alder", org.LiveNone), r.operator.LiveReviews
	decide := map[string]func() (org.Organisation, error){
		"approve":  func() (org.Organisation, error) { return all.Approve(t.Context(), live, false) },
		"refuse":   func() (org.Organisation, error) { return all.Refuse(t.Context(), live, "Who\u202e are\nyou?") },
		"withdraw": func() (org.Organisation, error) { return all.Withdraw(t.Context(), live, "Its website is gone.") },
	}
	for _, step := range []struct {
		action string
		want   org.LiveAccess // expected stage; empty if the action is rejected
		reason string
	}{
		{"refuse", "", ""},
		{"withdraw", "", ""},
		{"approve", org.LiveGranted, ""},
		{"approve", "", ""},
		{"refuse", "", ""},
		{"withdraw", org.LiveWithdrawn, "Its website is gone."},
		{"withdraw", "", ""},
		{"approve", org.LiveGranted, ""},
	} {
		got, err := decide[step.action]()
		if step.want == "" && errors.Is(err, fault.Conflict) {
			continue
		}
		if err != nil || got.LiveAccess != step.want || got.LiveReview.Reason != step.reason ||
			got.LiveReview.DecidedAt.IsZero() {
			t.Errorf("%s: %+v (%v)", step.action, got, err)
		}
	}
	asking := r.newcomer(t, "Maple", org.LiveRequested)
	if got, err := all.Refuse(t.Context(), asking, "No website."); err != nil || got.LiveAccess != org.LiveNone {
		t.Errorf("a refused request leaves %q (%v), want %q", got.LiveAccess, err, org.LiveNone)
	}
	for _, reason := range []string{"", " \u200b", strings.Repeat("x", 501)} {
		if _, err := all.Withdraw(t.Context(), live, reason); !errors.Is(err, fault.Invalid) {
			t.Errorf("the reason %q: %v", reason, err)
		}
	}
}

func TestApproveLiveRejectsLookalikeUntilCompared(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.newcomer(t, "Alder Maple Clinic", org.LiveGranted)
	copycat := r.newcomer(t, "\u0410lder Map1e Clinic, Inc.", org.LiveNone)
	if _, err := r.operator.LiveReviews.Approve(t.Context(), copycat, false); !errors.Is(err, fault.Conflict) {
		t.Errorf("a look-alike was approved unseen: %v", err)
	}
	got, err := r.operator.LiveReviews.Approve(t.Context(), copycat, true)
	if err != nil || got.LiveAccess != org.LiveGranted {
		t.Errorf("after the comparison: %+v (%v)", got, err)
	}
}

func TestRequestLiveAccessLeavesGrantedAccess(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	live := r.newcomer(t, "Alder", org.LiveGranted)
	_, err := r.operator.LiveAccess.Request(t.Context(), live, "account", "We match patients with clinical trials.")
	if !errors.Is(err, fault.Conflict) || !strings.Contains(fault.Of(err).Public, "already granted") {
		t.Errorf("a second request: %v", err)
	}
}

func TestChangeOwnRejectsReviewedFields(t *testing.T) {
	t.Parallel()
	for _, stage := range []org.LiveAccess{org.LiveNone, org.LiveRequested, org.LiveGranted, org.LiveWithdrawn} {
		r := newFixture(t)
		live := r.newcomer(t, "Alder", stage)
		isKept := stage == org.LiveRequested || stage == org.LiveGranted
		for what, change := range map[string]operator.OrganisationChange{
			"name":    {Name: new("Maple Clinic")},
			"logo":    {Logo: new("https://mayo.example/logo.svg")},
			"website": {Website: new("")},
			"privacy": {Privacy: new("")},
		} {
			_, err := r.operator.Organisations.ChangeOwn(t.Context(), live, change)
			if errors.Is(err, fault.Conflict) != isKept || isKept && fault.Of(err).Field != what || !isKept && err != nil {
				t.Errorf("at stage %s a member's change of the %s: %v", stage, what, err)
			}
		}
		_, err := r.operator.Organisations.ChangeOwn(t.Context(), live,
			operator.OrganisationChange{Accent: new("#1a5fb4"), Privacy: new("https://alder.example/new")})
		expect.NoError(t, err)
		_, err = r.operator.Organisations.Change(t.Context(), live,
			operator.OrganisationChange{Name: new("Alder by its operator")})
		expect.NoError(t, err)
	}
}

func TestChangeOwnDoesNotVerifyAddressesWhenSavedTwice(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	own := r.newcomer(t, "Alder", org.LiveNone)
	for range 2 {
		got, err := r.operator.Organisations.ChangeOwn(t.Context(), own,
			operator.OrganisationChange{Emails: []string{"ops@alder.example"}})
		if err != nil || len(got.Emails) != 1 || len(got.VerifiedEmails) != 0 {
			t.Errorf("addresses %v, verified %v (%v)", got.Emails, got.VerifiedEmails, err)
		}
	}
}

func TestChangeOwnAcceptsEquivalentSpellingOfReviewedURL(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	live := r.newcomer(t, "Alder", org.LiveGranted)
	_, err := r.operator.Organisations.Change(t.Context(), live,
		operator.OrganisationChange{Website: new("https://alder.example/about")})
	expect.NoError(t, err)
	for _, website := range []string{"HTTPS://Alder.Example:443/about", "https://alder.example/about"} {
		_, err = r.operator.Organisations.ChangeOwn(t.Context(), live,
			operator.OrganisationChange{Accent: new("#1a5fb4"), Website: &website})
		expect.NoError(t, err)
	}
	if _, err = r.operator.Organisations.ChangeOwn(t.Context(), live,
		operator.OrganisationChange{Website: new("https://alder.example/")}); !errors.Is(err, fault.Conflict) {
		t.Errorf("another website: %v", err)
	}
}
