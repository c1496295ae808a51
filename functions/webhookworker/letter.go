package webhookworker

import (
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/webhook"
)

// letter is what a notice says. It names the webhook by its URL and id and holds no secret and nothing of events. It is
// all that its reader has.
type letter struct {
	subject string // one line
	text    string
}

// What each letter ends with: its reader has nothing but the letter, and cannot do all of it alone.
const (
	reach   = "Answer this e-mail to reach whoever runs Recordbridge for you."
	receive = "A receiver has to answer each request with a status from 200 to 299 within 30 seconds."
)

// letterOf writes a notice to the organisation of this name, which it may have chosen itself.
func letterOf(n webhook.Notice, name string) letter {
	whose := fmt.Sprintf("%s (%s mode)", strings.Join(strings.Fields(name), " "), n.Tenant.Mode)
	subject, facts, advice := said(n)
	lines := append([]string{"Organisation: " + whose, ""}, facts...)
	lines = append(lines, "", "What to do:")
	for _, line := range advice {
		lines = append(lines, "- "+line)
	}
	lines = append(lines, "", reach)
	return letter{subject: "Recordbridge: " + subject + ": " + whose, text: strings.Join(lines, "\n") + "\n"}
}

func said(n webhook.Notice) (subject string, facts, advice []string) {
	switch n.Kind {
	case webhook.NoticeFailing:
		return "A webhook keeps failing",
			append([]string{"Nothing that was sent to this webhook has been accepted for some time."}, aboutWebhook(n)...),
			[]string{
				"Repair the receiver. " + receive,
				"What fails is sent again by itself, ten times in about 75 hours.",
				"After 120 hours of nothing but failures the webhook is disabled. What it misses then is kept for 15 days.",
			}
	case webhook.NoticeDisabled:
		return "A webhook was disabled",
			append(because(n.Reason), aboutWebhook(n)...),
			[]string{
				"Repair the receiver. " + receive,
				"Then ask for the webhook to be enabled again, and say whether what it has missed is to be sent.",
				"What happens in the meantime is kept for 15 days.",
			}
	case webhook.NoticeWebhookCreated:
		return "A webhook was created",
			append([]string{"Events will be sent to a new webhook."}, aboutWebhook(n)...),
			[]string{"If nobody of yours asked for it, ask at once for the webhook to be disabled: events tell where records can be downloaded."}
	case webhook.NoticeSecretRotated:
		return "A webhook has a new secret",
			append([]string{"Events to this webhook are signed with a new secret, and for at most 24 hours with the old one as well."}, aboutWebhook(n)...),
			[]string{
				"Give the receiver the new secret before the old one ends.",
				"If nobody of yours asked for it, ask at once for the webhook to be disabled: somebody else may have the new secret.",
			}
	case webhook.NoticeCredentialCreated:
		return "A credential was created",
			[]string{"There is a new API credential.", "", "Public id: " + n.PublicID, "Since: " + moment(n.At)},
			[]string{"If nobody of yours asked for it, ask at once for its keys to be revoked: a private key gives access to patients' records."}
	case webhook.NoticeKeyCreated:
		return "A private key was created",
			[]string{"An API credential has another private key.", "", "Public id: " + n.PublicID, "Since: " + moment(n.At)},
			[]string{"If nobody of yours asked for it, ask at once for all keys of the credential to be revoked: a private key gives access to patients' records."}
	}
	return "", nil, nil
}

func aboutWebhook(n webhook.Notice) []string {
	lines := []string{"", "Webhook: " + n.URL, "Id: " + n.SubscriptionID}
	switch {
	case n.Failures == 1:
		lines = append(lines, "Failing since: "+moment(n.FailingSince)+" (1 failed attempt)")
	case n.Failures > 1:
		lines = append(lines, fmt.Sprintf("Failing since: %s (%d failed attempts)", moment(n.FailingSince), n.Failures))
	}
	switch n.Kind {
	case webhook.NoticeDisabled:
		lines = append(lines, "Disabled: "+moment(n.At))
	case webhook.NoticeWebhookCreated, webhook.NoticeSecretRotated:
		lines = append(lines, "Since: "+moment(n.At))
	case webhook.NoticeFailing, webhook.NoticeCredentialCreated, webhook.NoticeKeyCreated:
	}
	return lines
}

// because tells why a webhook is disabled and, where nobody was warned, why not (spec section 8).
func because(r webhook.Reason) []string {
	const stopped = "Nothing is sent to this webhook any more, because "
	const unwarned = "There was no warning before this e-mail: with that answer the receiver itself asks us to stop at once."
	switch r {
	case webhook.ReasonGone:
		return []string{stopped + "its receiver answered 410 Gone.", unwarned}
	case webhook.ReasonAsked:
		return []string{stopped + `its receiver answered "webhook-delivery: disable".`, unwarned}
	case webhook.ReasonByHand:
		return []string{stopped + "whoever runs Recordbridge for you has disabled it."}
	case webhook.ReasonFailing:
	}
	return []string{stopped + "for 120 hours nothing that was sent to it was accepted."}
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
