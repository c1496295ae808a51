package notice_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/mailtest"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/org"
)

// mailed sends a notice and returns its subject, text and HTML.
func mailed(t *testing.T, n notice.Notice) (subject, text, markup string) {
	t.Helper()
	p := newOffice(t, address)
	n.ID, n.Tenant, n.At = noticeID, tenant, time.Now()
	expect.NoError(t, p.rows.Notify(t.Context(), n))
	expect.NoError(t, p.send())
	p.wantDone(1, notice.Sent)
	got := p.cloud.SES().Sent()[0]
	return got.Subject, got.Text, got.HTML
}

func TestNoticeEmailsContainNoSecrets(t *testing.T) {
	t.Parallel()
	sub := webhook.Subscription{
		ID: hookID, Tenant: tenant, URL: "https://user:unsaid@alder.example/hook?key=unsaid#unsaid",
		Private: []byte("unsaid"),
		Secrets: []webhook.SealedSecret{{Sealed: []byte("unsaid")}}, PublicKey: "whpk_unsaid",
	}
	credential := org.Credential{
		ID: "c0000000-0000-4000-8000-000000000001", Tenant: tenant,
		Keys: []org.Key{{Hash: []byte("unsaid")}},
	}
	since := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	disabled := func(why webhook.Reason, failures int) notice.Notice {
		n := notice.DisabledByHand(sub, since)
		n.Reason, n.Failures, n.FailingSince = why, failures, since
		return n
	}
	failing := disabled("", 1)
	failing.Kind = notice.KindFailing
	alder := org.Organisation{ID: tenant.OrgID, LiveReview: org.LiveReview{Purpose: "unsaid", Reason: "unsaid"}}
	for name, n := range map[string]notice.Notice{
		"live-approved":      notice.LiveApproved(alder, since),
		"live-refused":       notice.LiveRefused(alder, since),
		"live-withdrawn":     notice.LiveWithdrawn(alder, since),
		"support-ticket":     notice.SupportRequested(tenant, "50000000-0000-4000-8000-000000000001", since),
		"webhook-created":    notice.WebhookCreated(sub),
		"webhook-moved":      notice.WebhookMoved(sub, since),
		"secret-rotated":     notice.SecretRotated(sub, since),
		"webhook-failing":    failing,
		"disabled-failing":   disabled(webhook.ReasonFailing, 31),
		"disabled-by-hand":   notice.DisabledByHand(sub, since),
		"disabled-gone":      disabled(webhook.ReasonGone, 0),
		"disabled-asked":     disabled(webhook.ReasonAsked, 0),
		"credential-created": notice.CredentialCreated(credential),
		"key-created":        notice.KeyCreated(credential, credential.Keys[0]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				subject, text, markup := mailed(t, n)
				mailtest.Check(t, name, subject, text, markup)
				if strings.Contains(subject+text+markup, "unsaid") {
					t.Errorf("a secret is told: %s", text)
				}
			})
		})
	}
}

// TestMailEscapesOrganisationName checks that an organisation's name can't inject markup.
func TestMailEscapesOrganisationName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		named, err := p.rows.Organisation(t.Context(), tenant)
		expect.NoError(t, err)
		named.Name = "Alder\r\nBcc: eve@evil.example\u2028<a href=\"https://evil.example\">App</a>"
		expect.NoError(t, p.rows.SaveOrganisation(t.Context(), named))
		p.store()
		expect.NoError(t, p.send())
		got := p.cloud.SES().Sent()[0]
		const name = `Alder Bcc: eve@evil.example <a href="https://evil.example">App</a> (test mode)`
		if got.Subject != "Recordbridge: A webhook keeps failing: "+name || len(got.To) != 1 ||
			!strings.Contains(got.Text, "\nOrganisation: "+name+"\n") {
			t.Errorf("the name makes a line: %q to %q: %s", got.Subject, got.To, got.Text)
		}
		if strings.Count(got.HTML, "<a ") != 1 || !strings.Contains(got.HTML, "&lt;a href=") {
			t.Errorf("the name makes markup: %s", got.HTML)
		}
	})
}

func TestNoticeHidesSecretsInURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://user:secret@alder.example:8443/a%2Fb/c?key=secret#secret": "https://alder.example:8443/a%2Fb/c",
		"https://alder.example": "https://alder.example",
		"://secret":             "",
	} {
		if got := notice.WebhookCreated(webhook.Subscription{URL: given}).URL; got != want {
			t.Errorf("%s is shown as %q, want %q", given, got, want)
		}
	}
}
