package maillimit

import "time"

const day = 24 * time.Hour

// Purpose is a kind of e-mail. Each has budgets of its own, so that none uses up another's.
type Purpose string

// The purposes.
const (
	Invitation     Purpose = "invitation"
	Notice         Purpose = "notice"          // to an organisation's verified addresses
	Answer         Purpose = "answer"          // to a patient's inquiry
	NoticeAddress  Purpose = "notice_address"  // code that verifies an organisation's notice address
	AccountAddress Purpose = "account_address" // code that verifies an account's new address
	Account        Purpose = "account"         // to an account's own address, about its security
	PatientCode    Purpose = "patient_code"    // for an organisation that is not approved for live mode
	ApprovedCode   Purpose = "approved_code"   // for one that is
	SupportTicket  Purpose = "support_ticket"  // to the operator
)

// limits are e-mails a day. That many can leave at once; after that, each becomes possible again after its part of
// a day. Zero is no limit.
type limits struct {
	sender  int // of one account, and of one organisation
	share   int // of one sender to one mailbox
	mailbox int // to one mailbox from all senders
}

// limits returns the purpose's row of the table in docs/adr/0042-mail-is-not-a-relay.md. An unknown purpose
// has the tightest limits.
func (p Purpose) limits() limits {
	switch p {
	case Invitation:
		return limits{sender: 50, share: 3, mailbox: 15}
	case Notice:
		return limits{sender: 500, share: 50, mailbox: 500}
	case Answer:
		return limits{sender: 100, share: 10, mailbox: 50}
	case NoticeAddress, AccountAddress:
		return limits{sender: 20, share: 3, mailbox: 15}
	case Account:
		return limits{sender: 0, share: 0, mailbox: 50}
	case PatientCode:
		return limits{sender: 200, share: 10, mailbox: 50}
	case ApprovedCode:
		return limits{sender: 10_000, share: 0, mailbox: 120}
	case SupportTicket:
		return limits{sender: 20, share: 20, mailbox: 200}
	}
	return limits{sender: 1, share: 1, mailbox: 1}
}
