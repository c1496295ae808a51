package notice_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/notice"
	"recordbridge/shared/org"
	"recordbridge/shared/testkit/expect"
	"recordbridge/shared/webhook"
)

func TestAMailTellsWhatHasHappenedAndWhatToDo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		since := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		expect.NoError(t, p.rows.Notify(t.Context(), notice.Notice{
			ID: noticeID, Tenant: tenant, Kind: notice.KindDisabled, SubscriptionID: hookID, URL: "https://alder.example/hook", Rev: 1,
			Reason: webhook.ReasonFailing, Failures: 31, FailingSince: since, At: time.Now(),
		}))
		expect.NoError(t, p.send())
		got := p.cloud.SES().Sent()[0]
		want := `Organisation: Alder App (test mode)

Nothing is sent to this webhook any more, because for 120 hours nothing that was sent to it was accepted.

Webhook: https://alder.example/hook
Id: f0000000-0000-4000-8000-000000000001
Failing since: 2026-03-04 05:06 UTC (31 failed attempts)
Disabled: 2000-01-01 00:00 UTC

What to do:
- Repair the receiver. A receiver has to answer each request with a status from 200 to 299 within 30 seconds.
- When it is ready, answer this e-mail to have the webhook enabled again, and say whether the events that it has missed should be sent.
- Events in the meantime are kept for 15 days.

Answer this e-mail to reach whoever runs Recordbridge for you.
`
		if diff := cmp.Diff(want, got.Text); diff != "" || got.Subject != "Recordbridge: A webhook was disabled: Alder App (test mode)" {
			t.Errorf("subject %q, text (-want +got):\n%s", got.Subject, diff)
		}
	})
}

func TestEachKindHasItsMailWithoutASecret(t *testing.T) {
	t.Parallel()
	sub := webhook.Subscription{
		ID: hookID, Tenant: tenant, URL: "https://user:unsaid@alder.example/hook?key=unsaid#unsaid", Private: []byte("unsaid"),
		Secrets: []webhook.SealedSecret{{Sealed: []byte("unsaid")}}, PublicKey: "whpk_unsaid",
	}
	credential := org.Credential{ID: "c0000000-0000-4000-8000-000000000001", Tenant: tenant, Keys: []org.Key{{Hash: []byte("unsaid")}}}
	shown := notice.WebhookCreated(sub).URL
	for name, test := range map[string]struct {
		notice  notice.Notice
		subject string
		text    []string
	}{
		"created": {
			notice.WebhookCreated(sub), "A webhook was created", []string{"Webhook: https://alder.example/hook\n", hookID, "to be disabled"},
		},
		"credential": {
			notice.CredentialCreated(credential), "A credential was created", []string{"public_test_" + credential.ID, "to be revoked"},
		},
		"key": {
			notice.KeyCreated(credential, credential.Keys[0]), "A private key was created", []string{"public_test_" + credential.ID, "all keys"},
		},
		"moved": {
			notice.WebhookMoved(sub, time.Time{}), "A webhook has a new address", []string{"Webhook: https://alder.example/hook\n", hookID, "to be disabled"},
		},
		"rotated": {
			notice.SecretRotated(sub, time.Time{}), "A webhook has a new secret", []string{"Webhook: https://alder.example/hook\n", "24 hours"},
		},
		"by hand": {notice.DisabledByHand(sub, time.Time{}), "was disabled", []string{"whoever runs Recordbridge for you has disabled it", "to learn why"}},
		"failing": {
			notice.Notice{Kind: notice.KindFailing, URL: shown, Failures: 1}, "keeps failing", []string{"(1 failed attempt)", "120 hours"},
		},
		"gone":  {notice.Notice{Kind: notice.KindDisabled, URL: shown, Reason: webhook.ReasonGone}, "was disabled", []string{"410 Gone", "There was no warning"}},
		"asked": {notice.Notice{Kind: notice.KindDisabled, URL: shown, Reason: webhook.ReasonAsked}, "was disabled", []string{"webhook-delivery: disable", "There was no warning"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newOffice(t, address)
				n := test.notice
				n.ID, n.Tenant, n.At = noticeID, tenant, time.Now()
				expect.NoError(t, p.rows.Notify(t.Context(), n))
				expect.NoError(t, p.send())
				p.wantDone(1, notice.Sent)
				got := p.cloud.SES().Sent()[0]
				if !strings.Contains(got.Subject, test.subject) || strings.Contains(got.Text, "docs/") || strings.Contains(got.Subject+got.Text, "unsaid") {
					t.Errorf("subject %q, text %s", got.Subject, got.Text)
				}
				for _, want := range test.text {
					if !strings.Contains(got.Text, want) {
						t.Errorf("%q is not in %s", want, got.Text)
					}
				}
			})
		})
	}
}

func TestANoticeShowsNoSecretOfAURL(t *testing.T) {
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
