package webhookworker

import (
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/webhook"
)

// letter is what a notice says. It names the webhook by its URL and id and holds no secret and nothing of events.
type letter struct {
	subject string // one line
	text    string
}

// letterOf writes a notice to the organisation of this name, which it may have chosen itself.
func letterOf(n webhook.Notice, name string) letter {
	whose := fmt.Sprintf("%s (%s mode)", strings.Join(strings.Fields(name), " "), n.Tenant.Mode)
	var subject string
	var facts, advice []string
	switch n.Kind {
	case webhook.NoticeFailing:
		subject = "A webhook keeps failing: " + whose
		facts = append([]string{"Nothing that was sent to this webhook has been accepted for some time."}, aboutWebhook(n)...)
		advice = []string{
			"The receiver has to answer each request with a status from 200 to 299 within 30 seconds.",
			"What fails is sent again, ten times in about 75 hours.",
			"After 120 hours of nothing but failures the webhook is disabled.",
		}
	case webhook.NoticeDisabled:
		subject = "A webhook was disabled: " + whose
		facts = append([]string{"Nothing is sent to this webhook any more, because " + because(n.Reason) + "."}, aboutWebhook(n)...)
		advice = []string{
			"Repair the receiver, then ask for the webhook to be enabled again.",
			"What happens in the meantime is kept for 15 days and can be sent then.",
		}
	case webhook.NoticeWebhookCreated:
		subject = "A webhook was created: " + whose
		facts = append([]string{"Events will be sent to a new webhook."}, aboutWebhook(n)...)
		advice = []string{"If nobody of yours asked for it, have it removed at once: events tell where records can be downloaded."}
	case webhook.NoticeCredentialCreated:
		subject = "A credential was created: " + whose
		facts = []string{"There is a new API credential.", "", "Public id: " + n.PublicID, "Since: " + moment(n.At)}
		advice = []string{"If nobody of yours asked for it, have it revoked at once: its private key gives access to patients' records."}
	}
	lines := append([]string{"Organisation: " + whose, ""}, facts...)
	lines = append(lines, "", "What to do:")
	for _, line := range advice {
		lines = append(lines, "- "+line)
	}
	lines = append(lines, "", "More: "+reference(n.Kind))
	return letter{subject: "Recordbridge: " + subject, text: strings.Join(lines, "\n") + "\n"}
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
	case webhook.NoticeWebhookCreated:
		lines = append(lines, "Since: "+moment(n.At))
	case webhook.NoticeFailing, webhook.NoticeCredentialCreated:
	}
	return lines
}

func because(r webhook.Reason) string {
	switch r {
	case webhook.ReasonGone:
		return "its receiver answered 410 Gone"
	case webhook.ReasonAsked:
		return `its receiver answered "webhook-delivery: disable"`
	case webhook.ReasonFailing:
	}
	return "for 120 hours nothing that was sent to it was accepted"
}

// reference is where it is written what to do, in the repository of the service.
func reference(kind webhook.NoticeKind) string {
	if kind == webhook.NoticeCredentialCreated {
		return "docs/operations.md#keys"
	}
	return "docs/operations.md#webhooks"
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
