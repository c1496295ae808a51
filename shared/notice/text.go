package notice

import (
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/webhook"
)

// What each e-mail ends with: its reader has nothing but the e-mail, and cannot do all of it alone.
const (
	reach   = "Answer this e-mail to reach whoever runs Recordbridge for you."
	receive = "A receiver has to answer each request with a status from 200 to 299 within 30 seconds."
)

// mailText writes a notice to the organisation of this name, which it may have chosen itself: the subject is one line. It
// names the webhook by its URL and id and holds no secret and nothing of events. It is all that its reader has.
func mailText(n Notice, name string) (subject, text string) {
	whose := fmt.Sprintf("%s (%s mode)", strings.Join(strings.Fields(name), " "), n.Tenant.Mode)
	headline, facts, advice := content(n)
	lines := append([]string{"Organisation: " + whose, ""}, facts...)
	lines = append(lines, "", "What to do:")
	for _, line := range advice {
		lines = append(lines, "- "+line)
	}
	lines = append(lines, "", reach)
	return "Recordbridge: " + headline + ": " + whose, strings.Join(lines, "\n") + "\n"
}

func content(n Notice) (headline string, facts, advice []string) {
	switch n.Kind {
	case KindFailing:
		return "A webhook keeps failing",
			append([]string{"Nothing that was sent to this webhook has been accepted for some time."}, aboutWebhook(n)...),
			[]string{
				"Repair the receiver. " + receive,
				"Each event is sent up to ten times in about 75 hours, until it is accepted.",
				"After 120 hours of nothing but failures the webhook is disabled. Events that it misses then are kept for 15 days.",
			}
	case KindDisabled:
		first := "Repair the receiver. " + receive
		if n.Reason == webhook.ReasonByHand {
			first = "If nobody in your organisation asked for it, answer this e-mail to learn why."
		}
		return "A webhook was disabled",
			append(because(n.Reason), aboutWebhook(n)...),
			[]string{
				first,
				"When it is ready, answer this e-mail to have the webhook enabled again, and say whether the events that it has missed should be sent.",
				"Events in the meantime are kept for 15 days.",
			}
	case KindWebhookCreated:
		return "A webhook was created",
			append([]string{"Events will be sent to a new webhook."}, aboutWebhook(n)...),
			[]string{"If nobody in your organisation asked for it, answer this e-mail at once and ask for the webhook to be disabled: its events say where patients' records can be downloaded."}
	case KindWebhookMoved:
		return "A webhook has a new address",
			append([]string{"Events of this webhook are sent to this address from now on."}, aboutWebhook(n)...),
			[]string{"If nobody in your organisation asked for it, answer this e-mail at once and ask for the webhook to be disabled: its events say where patients' records can be downloaded."}
	case KindSecretRotated:
		return "A webhook has a new secret",
			append([]string{"Events to this webhook are signed with a new secret, and for at most 24 hours with the old one as well."}, aboutWebhook(n)...),
			[]string{
				"Give the receiver the new secret before the old one ends.",
				"If nobody in your organisation asked for it, answer this e-mail at once and ask for the webhook to be disabled: somebody else may have the new secret.",
			}
	case KindCredentialCreated:
		return "A credential was created",
			[]string{"There is a new API credential.", "", "Public id: " + n.PublicID, "Created: " + moment(n.At)},
			[]string{"If nobody in your organisation asked for it, answer this e-mail at once and ask for its keys to be revoked: a private key gives access to patients' records."}
	case KindKeyCreated:
		return "A private key was created",
			[]string{"An API credential has a new private key.", "", "Public id: " + n.PublicID, "Created: " + moment(n.At)},
			[]string{"If nobody in your organisation asked for it, answer this e-mail at once and ask for all keys of the credential to be revoked: a private key gives access to patients' records."}
	}
	return "", nil, nil
}

func aboutWebhook(n Notice) []string {
	lines := []string{"", "Webhook: " + n.URL, "Id: " + n.SubscriptionID}
	switch {
	case n.Failures == 1:
		lines = append(lines, "Failing since: "+moment(n.FailingSince)+" (1 failed attempt)")
	case n.Failures > 1:
		lines = append(lines, fmt.Sprintf("Failing since: %s (%d failed attempts)", moment(n.FailingSince), n.Failures))
	}
	switch n.Kind {
	case KindDisabled:
		lines = append(lines, "Disabled: "+moment(n.At))
	case KindWebhookCreated:
		lines = append(lines, "Created: "+moment(n.At))
	case KindWebhookMoved, KindSecretRotated:
		lines = append(lines, "Since: "+moment(n.At))
	case KindFailing, KindCredentialCreated, KindKeyCreated:
	}
	return lines
}

// because tells why a webhook is disabled and, where nobody was warned, why not: that no webhook is disabled unwarned is promised (docs/webhooks.md, Answering).
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
