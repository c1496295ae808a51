package members

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const maxReason = 200 // maximum length in characters

// Recover starts an operator's recovery of an owner's account. Once account.RecoveryWait has passed, a sign-in with an
// emailed code removes the account's second factors. Before the recovery starts, the account and all members and
// verified notice addresses of its organisations are notified. The reason appears in audit rows, so it must not contain
// an email address. The error is fault.Invalid, fault.NotFound, fault.Conflict, or fault.Unavailable if no email could
// be sent.
func (d Service) Recover(ctx context.Context, by By, orgID, email, reason string) (account.Recovery, error) {
	reason = strings.TrimSpace(reason)
	if reason == "" || utf8.RuneCountInString(reason) > maxReason || strings.Contains(reason, "@") ||
		strings.ContainsFunc(reason, unicode.IsControl) {
		return account.Recovery{}, fault.BadRequest(
			fmt.Sprintf("A recovery needs a reason of at most %d characters without URLs or e-mail "+
				"addresses.", maxReason)).About("reason")
	}
	all, err := d.List(ctx, orgID)
	if err != nil {
		return account.Recovery{}, err
	}
	i := slices.IndexFunc(all, func(m Member) bool {
		return account.Fold(m.Email) == account.Fold(email) &&
			m.Role == account.Owner
	})
	if i < 0 {
		return account.Recovery{}, fault.Missing("The organisation has no owner with this address.").About("email")
	}
	owner, err := d.Rows.Account(ctx, all[i].AccountID)
	if err != nil {
		return account.Recovery{}, fmt.Errorf("read account: %w", err)
	}
	if !owner.HasSecondFactor() {
		return account.Recovery{}, conflict("The account has no second factor. Its owner can sign in with an " +
			"e-mailed code.")
	}
	r, err := account.OpenRecovery(ctx, d.Rows, owner.ID)
	if err != nil {
		return account.Recovery{}, err
	}
	if r.IsOpen() {
		return account.Recovery{}, conflict("The account's recovery has already started.")
	}
	now := d.Now()
	r.Actor, r.RequestedAt, r.AppliesAt = by.Actor, now, now.Add(account.RecoveryWait)
	// The recovery is announced before it starts, because nobody could stop an unannounced recovery.
	sent, err := d.tellOf(ctx, by, owner, "account.recovery_begun", owner.ID+" "+reason,
		recoveryBegun(d.Dashboard, owner, r))
	if err != nil {
		return account.Recovery{}, err
	}
	if sent == 0 {
		return account.Recovery{}, fault.New(fault.Unavailable, fault.CodeUnavailable,
			"The recovery was not started because no e-mail about it could be sent.")
	}
	if err := d.Rows.SaveRecovery(ctx, r); err != nil {
		return account.Recovery{}, fmt.Errorf("store recovery: %w", err)
	}
	return r, nil
}

// StopRecovery stops an account's recovery on behalf of an operator or another owner of the organisation.
func (d Service) StopRecovery(ctx context.Context, by By, orgID, accountID string) error {
	if !by.Role.May(account.Own) {
		return fault.New(fault.Forbidden, fault.CodeForbidden, "Only an owner can stop a recovery.")
	}
	if _, err := d.member(ctx, orgID, accountID); err != nil {
		return err
	}
	r, err := account.OpenRecovery(ctx, d.Rows, accountID)
	if err != nil {
		return err
	}
	if !r.IsOpen() {
		return fault.Missing("This account has no recovery in progress.")
	}
	owner, err := d.Rows.Account(ctx, accountID)
	if err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	r.EndedAt = d.Now()
	if err = d.Rows.SaveRecovery(ctx, r); err != nil {
		return fmt.Errorf("stop recovery: %w", err)
	}
	_, err = d.tellOf(ctx, by, owner, "account.recovery_stopped", accountID, recoveryStopped(d.Dashboard, owner))
	return err
}

// tellOf writes an audit row for each of the account's organisations and sends a message to their members and verified
// notice addresses. It returns the number of emails sent.
func (d Service) tellOf(ctx context.Context, by By, of account.Account, action, target string,
	m mailtext.Message,
) (int, error) {
	all, err := d.Rows.Memberships(ctx, of.ID)
	if err != nil {
		return 0, fmt.Errorf("list memberships: %w", err)
	}
	for _, membership := range all {
		if err := d.record(ctx, by, membership.OrgID, action, target); err != nil {
			return 0, err
		}
	}
	total := 0
	for _, membership := range all {
		o, err := d.Rows.Organisation(ctx, org.Tenant{Mode: org.Live, OrgID: membership.OrgID})
		if err != nil && !errors.Is(err, fault.NotFound) {
			return 0, fmt.Errorf("read organisation: %w", err)
		}
		sent, err := d.notifyMembers(ctx, membership.OrgID, o.VerifiedEmails, m)
		if err != nil {
			return 0, err
		}
		total += sent
	}
	return total, nil
}

func recoveryBegun(dashboard string, of account.Account, r account.Recovery) mailtext.Message {
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: recovery of an owner's account has started",
		Opening: []string{"Your Recordbridge operator received a report that this account's owner has lost all second " +
			"factors. At the time below, all second factors will be removed from the account, and a code sent to the " +
			"account's email address will be enough to sign in."},
		Facts: []mailtext.Fact{
			{Name: "Account", Value: of.Email},
			{Name: "Time", Value: r.AppliesAt.UTC().Format("2006-01-02 15:04 UTC")},
		},
		Link: mailtext.Link{Label: "Open the dashboard", Address: dashboard},
		Closing: []string{
			"If this is your account and you did not request the recovery, stop it by signing in with your passkey, " +
				"authenticator app or a recovery code.",
			"If you are another owner and did not expect the recovery, stop it in the dashboard, under Members.",
		},
		Reason: recoveryReason,
	}
}

func recoveryStopped(dashboard string, of account.Account) mailtext.Message {
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: recovery of an owner's account was stopped",
		Opening: []string{"The recovery of this account was stopped. The account's second factors remain."},
		Facts:   []mailtext.Fact{{Name: "Account", Value: of.Email}},
		Link:    mailtext.Link{Label: "Open the dashboard", Address: dashboard},
		Reason:  recoveryReason,
	}
}

const recoveryReason = "We send this email to all members of the account's organisations and to the organisations' " +
	"verified notice addresses."
