package notice

import (
	"fmt"
	"strconv"
	"time"

	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/webhook"
)

// Phrases common to the emails. Recipients may not have a dashboard account.
const (
	reach    = "If you can't sign in to the dashboard, reply to this email to reach your Recordbridge operator."
	receive  = "Your endpoint must respond to each request within 30 seconds with a status from 200 to 299."
	redirect = "If nobody in your organisation requested this change, disable the webhook at once. The webhook's " +
		"events contain links to patients' records."
	revoke = "If nobody in your organisation requested this change, revoke all keys of this credential at once. A " +
		"private key gives access to patients' records."
)

// content holds the parts of an email that differ between kinds of notice.
type content struct {
	headline string
	opening  []string
	advice   []string
}

// message returns the email for a notice to the organisation. name is the organisation's name, which is untrusted
// input. The email names and links to the webhook or credential, but contains neither secrets nor event content.
func message(n Notice, name, dashboard string) mailtext.Message {
	whose := fmt.Sprintf("%s (%s mode)", mailtext.Plain(name), n.Tenant.Mode)
	if n.Kind == KindSupport {
		return n.ticket(whose)
	}
	said := n.content()
	place, label, facts := "webhooks/"+n.SubscriptionID, "View the webhook", n.aboutWebhook()
	switch {
	case n.Kind == KindLiveApproved || n.Kind == KindLiveRefused || n.Kind == KindLiveWithdrawn:
		place, label, facts = "", "Open live mode", []mailtext.Fact{{Name: "Decided", Value: moment(n.At)}}
	case n.PublicID != "":
		place, label = "credentials/"+n.PublicID, "View the credential"
		facts = []mailtext.Fact{{Name: "Public ID", Value: n.PublicID}, {Name: "Created", Value: moment(n.At)}}
	}
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: " + said.headline + ": " + whose,
		Opening: said.opening,
		Facts:   append([]mailtext.Fact{{Name: "Organisation", Value: whose}}, facts...),
		Link: mailtext.Link{Label: label, Address: fmt.Sprintf("%s#/%s/%s/%s", dashboard, n.Tenant.OrgID,
			n.Tenant.Mode, place)},
		Closing: append(said.advice, reach),
		Reason: "We send this email to your organisation's notice addresses. To change the addresses, open Branding in " +
			"the dashboard.",
	}
}

// ticket returns the email to the operator about a support ticket. The email contains neither the ticket's text, which
// may be health information, nor its email address, which may belong to a patient.
func (n Notice) ticket(whose string) mailtext.Message {
	of := fmt.Sprintf("-org %s -mode %s -id %s", n.Tenant.OrgID, n.Tenant.Mode, n.InquiryID)
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: New support ticket: " + whose,
		Opening: []string{"A team member or a patient used this organisation's public ID to request support."},
		Facts: []mailtext.Fact{
			{Name: "Organisation", Value: whose},
			{Name: "Organisation ID", Value: n.Tenant.OrgID},
			{Name: "Ticket", Value: n.InquiryID},
			{Name: "Filed", Value: moment(n.At)},
		},
		Closing: []string{
			"To read the ticket: ctl inquiry show " + of,
			"To reply as the operator: ctl inquiry answer -as-operator -text-file FILE " + of,
			"The organisation received the event patient.request_support and has the ticket in its inbox.",
		},
		Reason: "We send this email to the address in the stack's SupportMail parameter. The email contains nothing from " +
			"the ticket, which may contain health information.",
	}
}

func (n Notice) content() content {
	switch n.Kind {
	case KindFailing:
		return failingContent()
	case KindDisabled:
		return disabledContent(n.Reason)
	case KindWebhookCreated:
		return content{"A webhook was created", []string{"A new webhook will receive events."}, []string{redirect}}
	case KindWebhookMoved:
		return content{
			"A webhook has a new URL",
			[]string{"From now on, this webhook's events will be sent to the URL below."},
			[]string{redirect},
		}
	case KindSecretRotated:
		return content{
			"A webhook has a new secret",
			[]string{"Events to this webhook are now signed with a new secret and, for at most 24 hours, with the old secret " +
				"as well."},
			[]string{
				"Give your endpoint the new secret before the old secret expires.",
				"If nobody in your organisation requested this change, disable the webhook at once. Someone else may have the " +
					"new secret.",
			},
		}
	case KindCredentialCreated:
		return content{"A credential was created", []string{"A new API credential was created."}, []string{revoke}}
	case KindLiveApproved:
		return content{
			"Live mode was approved",
			[]string{"Your organisation can now connect patients in live mode."},
			[]string{
				"Create a live credential and a live webhook in the dashboard. From now on, only your Recordbridge operator can " +
					"change your organisation's name, logo and website.",
			},
		}
	case KindLiveRefused:
		return content{
			"Live mode was not approved",
			[]string{"Your organisation's request for live mode was not approved."},
			[]string{
				"The dashboard shows the reason. You can resolve the issue and send a new request.",
			},
		}
	case KindLiveWithdrawn:
		return content{
			"Live mode was withdrawn",
			[]string{"Your organisation no longer has access to live mode, and its live credentials no longer work."},
			[]string{
				"The dashboard shows the reason. Running exports will finish, and webhooks will still receive events. You can " +
					"send a new request.",
			},
		}
	case KindKeyCreated:
		return content{"A private key was created", []string{"An API credential has a new private key."}, []string{revoke}}
	case KindSupport: // the ticket method returns this email
	}
	return content{"", nil, nil}
}

func failingContent() content {
	return content{
		"A webhook keeps failing",
		[]string{"This webhook hasn't accepted any event for some time."},
		[]string{
			"Fix your endpoint. " + receive,
			"We try to deliver each event up to ten times over about 75 hours, until your endpoint accepts it. If every " +
				"attempt fails for 120 hours, we disable the webhook. Events that a disabled webhook misses are kept for 15 days.",
		},
	}
}

func disabledContent(reason webhook.Reason) content {
	first := "Fix your endpoint. " + receive
	if reason == webhook.ReasonByHand {
		first = "If nobody in your organisation requested this change, check the dashboard's audit log to find out who " +
			"disabled the webhook."
	}
	return content{"A webhook was disabled", because(reason), []string{
		first,
		"When your endpoint is ready, enable the webhook in the dashboard, with or without the missed events. Missed " +
			"events are kept for 15 days.",
	}}
}

func (n Notice) aboutWebhook() []mailtext.Fact {
	facts := []mailtext.Fact{{Name: "Webhook", Value: n.URL}, {Name: "ID", Value: n.SubscriptionID}}
	if n.Failures > 0 {
		attempts := strconv.Itoa(n.Failures) + " failed attempts"
		if n.Failures == 1 {
			attempts = "1 failed attempt"
		}
		facts = append(facts, mailtext.Fact{Name: "Failing since", Value: moment(n.FailingSince) + " (" + attempts + ")"})
	}
	switch n.Kind {
	case KindDisabled:
		facts = append(facts, mailtext.Fact{Name: "Disabled", Value: moment(n.At)})
	case KindWebhookCreated:
		facts = append(facts, mailtext.Fact{Name: "Created", Value: moment(n.At)})
	case KindWebhookMoved, KindSecretRotated:
		facts = append(facts, mailtext.Fact{Name: "Since", Value: moment(n.At)})
	case KindFailing, KindCredentialCreated, KindKeyCreated, KindLiveApproved, KindLiveRefused,
		KindLiveWithdrawn, KindSupport:
	}
	return facts
}

// because returns the reason that a webhook was disabled. If no warning was sent, the text explains why, because the
// documentation promises a warning (docs/guide/webhooks.md, Retries).
func because(r webhook.Reason) []string {
	const stopped = "We no longer send events to this webhook, because "
	const unwarned = "We sent no warning before this email, because your endpoint's response asked us to stop at once."
	switch r {
	case webhook.ReasonGone:
		return []string{stopped + "your endpoint responded with 410 Gone.", unwarned}
	case webhook.ReasonAsked:
		return []string{stopped + `your endpoint responded with "webhook-delivery: disable".`, unwarned}
	case webhook.ReasonByHand:
		return []string{stopped + "someone in your organisation or your Recordbridge operator disabled it."}
	case webhook.ReasonFailing:
	}
	return []string{stopped + "your endpoint accepted no events for 120 hours."}
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
