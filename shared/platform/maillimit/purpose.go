package maillimit

import "time"

const day = 24 * time.Hour

// Purpose is a kind of e-mail. Each has its own budgets, so that none uses up another's.
type Purpose string

// The purposes.
const (
	Invitation     Purpose = "invitation"
	Notice         Purpose = "notice"          // to an organisation's verified addresses
	Answer         Purpose = "answer"          // to a patient's inquiry
	NoticeAddress  Purpose = "notice_address"  // code that verifies an organisation's notice address
	AccountAddress Purpose = "account_address" // code that verifies an account's new address
	Account        Purpose = "account"         // to an account's own address, about its security
	PatientCode    Purpose = "patient_code"    // sign-in code of an organisation not approved for live mode
	ApprovedCode   Purpose = "approved_code"   // sign-in code of an approved organisation
	SupportTicket  Purpose = "support_ticket"  // to the operator
)

// limits holds e-mails per day. The full number can be sent at once; after that the budget refills evenly over the day.
// Zero means no limit.
type limits struct {
	sender  int // by one account, or by one organisation
	share   int // by one sender to one mailbox
	mailbox int // to one mailbox from all senders
}

// limits returns the purpose's row of the table in docs/adr/0042-mail-is-not-a-relay.md. An unknown purpose gets the
// strictest limits.
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
