package notice

import (
	"fmt"
	"strconv"
	"time"

	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/webhook"
)

// What mails say again and again. Their reader has nothing but the mail, and may have no account of the dashboard.
const (
	reach    = "If you cannot sign in there, answer this e-mail to reach whoever runs Recordbridge for you."
	receive  = "A receiver has to answer each request with a status from 200 to 299 within 30 seconds."
	redirect = "If nobody in your organisation asked for it, disable the webhook at once: its events say where " +
		"patients' records can be downloaded."
	revoke = "If nobody in your organisation asked for it, revoke all keys of this credential at once: a private key " +
		"gives access to patients' records."
)

// content is what the kinds tell in words of their own.
type content struct {
	headline string
	opening  []string
	advice   []string
}

// message writes a notice to the organisation of this name, which it may have chosen itself. It names the webhook or
// the credential and leads to it, and holds no secret and nothing of events.
func message(n Notice, name, dashboard string) mailtext.Message {
	whose := fmt.Sprintf("%s (%s mode)", mailtext.Plain(name), n.Tenant.Mode)
	if n.Kind == KindSupport {
		return n.ticket(whose)
	}
	said := n.content()
	place, label, facts := "webhooks/"+n.SubscriptionID, "Look at the webhook", n.aboutWebhook()
	switch {
	case n.Kind == KindLiveApproved || n.Kind == KindLiveRefused || n.Kind == KindLiveWithdrawn:
		place, label, facts = "", "Open live mode", []mailtext.Fact{{Name: "Decided", Value: moment(n.At)}}
	case n.PublicID != "":
		place, label = "credentials/"+n.PublicID, "Look at the credential"
		facts = []mailtext.Fact{{Name: "Public id", Value: n.PublicID}, {Name: "Created", Value: moment(n.At)}}
	}
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: " + said.headline + ": " + whose,
		Opening: said.opening,
		Facts:   append([]mailtext.Fact{{Name: "Organisation", Value: whose}}, facts...),
		Link: mailtext.Link{Label: label, Address: fmt.Sprintf("%s#/%s/%s/%s", dashboard, n.Tenant.OrgID,
			n.Tenant.Mode, place)},
		Closing: append(said.advice, reach),
		Reason:  "This goes to the addresses for notices, which the dashboard has under Branding.",
	}
}

// ticket writes to the operator. What the ticket says may be health information, and its address may be a patient's, so
// that both are only in the inquiry.
func (n Notice) ticket(whose string) mailtext.Message {
	of := fmt.Sprintf("-org %s -mode %s -id %s", n.Tenant.OrgID, n.Tenant.Mode, n.InquiryID)
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: A support ticket was filed: " + whose,
		Opening: []string{"Somebody asked for support with the public id of this organisation: one of its team, or one of " +
			"its patients."},
		Facts: []mailtext.Fact{
			{Name: "Organisation", Value: whose},
			{Name: "Organisation id", Value: n.Tenant.OrgID},
			{Name: "Ticket", Value: n.InquiryID},
			{Name: "Filed", Value: moment(n.At)},
		},
		Closing: []string{
			"Read it: ctl inquiry show " + of,
			"Answer as the operator: ctl inquiry answer -as-operator -text-file FILE " + of,
			"The organisation has received the event patient.request_support, and has the ticket in its inbox.",
		},
		Reason: "This goes to the address of the stack's parameter SupportMail. It repeats nothing of the ticket, which " +
			"may hold health information.",
	}
}

func (n Notice) content() content {
	switch n.Kind {
	case KindFailing:
		return failingContent()
	case KindDisabled:
		return disabledContent(n.Reason)
	case KindWebhookCreated:
		return content{"A webhook was created", []string{"Events will be sent to a new webhook."}, []string{redirect}}
	case KindWebhookMoved:
		return content{
			"A webhook has a new address",
			[]string{"Events of this webhook are sent to this address from now on."},
			[]string{redirect},
		}
	case KindSecretRotated:
		return content{
			"A webhook has a new secret",
			[]string{"Events to this webhook are signed with a new secret, and for at most 24 hours with the old one as well."},
			[]string{
				"Give the receiver the new secret before the old one ends.",
				"If nobody in your organisation asked for it, disable the webhook at once: somebody else may have the new secret.",
			},
		}
	case KindCredentialCreated:
		return content{"A credential was created", []string{"There is a new API credential."}, []string{revoke}}
	case KindLiveApproved:
		return content{
			"Live mode was approved",
			[]string{"Your organisation can now connect patients in live mode."},
			[]string{
				"Create a live credential and a live webhook there. From now on, whoever runs Recordbridge changes your name, " +
					"logo and website for you.",
			},
		}
	case KindLiveRefused:
		return content{
			"Live mode was not approved",
			[]string{"Your organisation's request for live mode was not approved."},
			[]string{
				"The dashboard shows the reason. You can change what it names and send a new request.",
			},
		}
	case KindLiveWithdrawn:
		return content{
			"Live mode was withdrawn",
			[]string{"Your organisation no longer has access to live mode. Its live credentials no longer work."},
			[]string{
				"The dashboard shows the reason. Exports that have started will finish, and webhooks still receive events. You " +
					"can send a new request.",
			},
		}
	case KindKeyCreated:
		return content{"A private key was created", []string{"An API credential has a new private key."}, []string{revoke}}
	case KindSupport: // has a message of its own
	}
	return content{"", nil, nil}
}

func failingContent() content {
	return content{
		"A webhook keeps failing",
		[]string{"Nothing that was sent to this webhook has been accepted for some time."},
		[]string{
			"Repair the receiver. " + receive,
			"Each event is sent up to ten times in about 75 hours, until it is accepted. " +
				"After 120 hours of nothing but failures the webhook is disabled. Events that it misses then are kept for " +
				"15 days.",
		},
	}
}

func disabledContent(reason webhook.Reason) content {
	first := "Repair the receiver. " + receive
	if reason == webhook.ReasonByHand {
		first = "If nobody in your organisation asked for it, the audit log of the dashboard tells who did it."
	}
	return content{"A webhook was disabled", because(reason), []string{
		first,
		"When it is ready, enable the webhook there, with or without the events that it has missed. They are kept for 15 " +
			"days.",
	}}
}

func (n Notice) aboutWebhook() []mailtext.Fact {
	facts := []mailtext.Fact{{Name: "Webhook", Value: n.URL}, {Name: "Id", Value: n.SubscriptionID}}
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

// because tells why a webhook is disabled and, where nobody was warned, why not: that no webhook is disabled unwarned
// is promised (docs/guide/webhooks.md, Retries).
func because(r webhook.Reason) []string {
	const stopped = "Nothing is sent to this webhook any more, because "
	const unwarned = "There was no warning before this e-mail: with that answer the receiver itself asks us to stop at " +
		"once."
	switch r {
	case webhook.ReasonGone:
		return []string{stopped + "its receiver answered 410 Gone.", unwarned}
	case webhook.ReasonAsked:
		return []string{stopped + `its receiver answered "webhook-delivery: disable".`, unwarned}
	case webhook.ReasonByHand:
		return []string{stopped + "somebody in your organisation, or whoever runs Recordbridge for you, has disabled it."}
	case webhook.ReasonFailing:
	}
	return []string{stopped + "for 120 hours nothing that was sent to it was accepted."}
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
