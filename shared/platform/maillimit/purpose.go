package maillimit

import "time"

const day = 24 * time.Hour

// Purpose is a kind of email. Each purpose has its own budgets, so that one purpose can't use up another purpose's
// budgets.
type Purpose string

// Purposes of emails.
const (
	Invitation     Purpose = "invitation"
	Notice         Purpose = "notice"          // email to an organisation's verified addresses
	Answer         Purpose = "answer"          // reply to a patient's inquiry
	NoticeAddress  Purpose = "notice_address"  // code that verifies an organisation's email address for notices
	AccountAddress Purpose = "account_address" // code that verifies an account's new email address
	Account        Purpose = "account"         // security notice to an account's own address
	PatientCode    Purpose = "patient_code"    // sign-in code for patients of an organisation not approved for live mode
	ApprovedCode   Purpose = "approved_code"   // sign-in code for patients of an approved organisation
	SupportTicket  Purpose = "support_ticket"  // support ticket for the operator
)

// limits holds the number of emails per day. A sender can use a full budget at once. The budget then refills evenly
// over a day. Zero means unlimited.
type limits struct {
	sender  int // emails from one account or organisation
	share   int // emails from one sender to one mailbox
	mailbox int // emails from all senders to one mailbox
}

// limits returns the purpose's row from the table in docs/adr/0042-mail-is-not-a-relay.md. Unknown purposes get the
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
