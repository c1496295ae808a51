package operator

import (
	"context"
	"fmt"
	"slices"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// NoticeAddresses verifies organisations' notice addresses by emailing codes.
type NoticeAddresses struct {
	orgEditor

	sender  verification.Sender
	checker verification.Checker
	proofs  verification.Proofs
}

// NewNoticeAddresses returns a NoticeAddresses with the given dependencies.
func NewNoticeAddresses(
	rows OrganisationSaver, sender verification.Sender, checker verification.Checker, proofs verification.Proofs,
	by Journal,
) NoticeAddresses {
	return NoticeAddresses{orgEditor: orgEditor{saver: rows, by: by}, sender: sender, checker: checker, proofs: proofs}
}

// As returns a copy of o that records actor in audit rows.
func (o NoticeAddresses) As(actor string) NoticeAddresses {
	o.by = o.by.As(actor)
	return o
}

// NoticeCode describes a request for a verification code.
type NoticeCode struct {
	Email     string
	AccountID string
	Network   string // network from which the request came
}

// codesOf returns the tenant under which verification codes for an organisation's notice addresses are stored. A
// separate tenant isolates these codes from all others.
func codesOf(orgID string) org.Tenant { return org.Tenant{Mode: "notices", OrgID: orgID} }

// Send sends a code to an unverified notice address. It returns fault.NotFound if the address does not belong to the
// organisation, or fault.Conflict if the address is already verified. Send can also return fault.Invalid, fault.Limited
// or fault.Unavailable.
func (o NoticeAddresses) Send(ctx context.Context, tenant org.Tenant, asked NoticeCode) (verification.Sent, error) {
	found, err := findOrganisation(ctx, o.saver, tenant)
	if err != nil {
		return verification.Sent{}, err
	}
	email, err := unverified(found, asked.Email)
	if err != nil {
		return verification.Sent{}, err
	}
	sent, err := o.sender.Send(ctx, verification.Request{
		Tenant: codesOf(tenant.OrgID), From: maillimit.From{Account: asked.AccountID, Organisation: found.MailSender()},
		Email:    email,
		Occasion: verification.NoticeAddress, Network: asked.Network,
	})
	if err != nil {
		return verification.Sent{}, err
	}
	return sent, o.by.record(ctx, tenant, "organisation.email_code_sent", tenant.OrgID)
}

// Verify marks a notice address as verified if digits is the code sent to that address. It returns the same errors as
// Send.
func (o NoticeAddresses) Verify(
	ctx context.Context, tenant org.Tenant, asked, id, digits string,
) (org.Organisation, error) {
	at, err := verification.ParseAddress(asked)
	if err != nil {
		return org.Organisation{}, err
	}
	found, err := findOrganisation(ctx, o.saver, tenant)
	if err != nil {
		return org.Organisation{}, err
	}
	if _, err = unverified(found, at.String()); err != nil {
		return org.Organisation{}, err
	}
	verified, err := o.checker.Check(ctx, codesOf(tenant.OrgID), id, digits)
	if err != nil {
		return org.Organisation{}, err
	}
	if err = o.proofs.Check(ctx, codesOf(tenant.OrgID), verified.Token, at); err != nil {
		return org.Organisation{}, err
	}
	// Because the code is single-use, a concurrent change must not discard the verification.
	err = retry.OnConflict(ctx, retry.Tries, func() (err error) {
		found, err = o.save(ctx, tenant, "organisation.email_verified", func(found *org.Organisation) error {
			email, taken := unverified(*found, at.String())
			found.VerifiedEmails = append(slices.Clone(found.VerifiedEmails), email)
			return taken
		})
		return err
	})
	return found, err
}

// unverified returns the organisation's unverified notice address that matches email, as the organisation entered it.
func unverified(o org.Organisation, email string) (string, error) {
	same := func(one string) bool { return account.Fold(one) == account.Fold(email) }
	if slices.ContainsFunc(o.VerifiedEmails, same) {
		return "", refused("This address is already verified.")
	}
	at := slices.IndexFunc(o.Emails, same)
	if at < 0 {
		return "", fault.Missing("This address is not one of the organisation's addresses for notices. Save it " +
			"first.").About("email")
	}
	return o.Emails[at], nil
}

// setEmails replaces an organisation's notice addresses. Addresses that have already been verified remain verified. The
// address own, which belongs to the account making the change, counts as verified. setEmails returns fault.Invalid for
// an invalid address.
func setEmails(o *org.Organisation, emails []string, own string) error {
	if err := checkEmails(emails, o.Emails); err != nil {
		return err
	}
	known := append(slices.Clone(o.VerifiedEmails), own)
	o.Emails, o.VerifiedEmails = emails, slices.DeleteFunc(slices.Clone(emails), func(one string) bool {
		return !slices.ContainsFunc(known, func(k string) bool { return account.Fold(k) == account.Fold(one) })
	})
	return nil
}

// checkEmails rejects lists with more addresses than an email may have recipients. It also rejects new addresses that
// are invalid.
func checkEmails(emails, known []string) error {
	if len(emails) > maxEmails {
		return fault.BadRequest(fmt.Sprintf("An organisation can have at most %d e-mail addresses.",
			maxEmails)).About("email")
	}
	for _, text := range emails {
		at, err := verification.ParseAddress(text)
		if !slices.Contains(known, text) && (err != nil || account.Fold(at.String()) != account.Fold(text)) {
			return fault.BadRequest("An e-mail address is not valid.").About("email")
		}
	}
	return nil
}
