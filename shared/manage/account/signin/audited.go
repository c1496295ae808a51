package signin

import (
	"context"
	"fmt"
	"strings"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Audited is a Service that also writes audit rows. Each change to an account's sign-in methods adds an audit row in
// each of its organisations. Sign-ins and sign-outs are not recorded.
type Audited struct {
	Service

	deps Deps
	log  Log
}

// NewAudited returns an Audited that wraps a Service.
func NewAudited(d Deps, log Log) Audited { return Audited{Service: New(d), deps: d, log: log} }

// Log records changes and their actors. audit.Log implements it.
type Log interface {
	Append(ctx context.Context, row audit.Row) error
}

// ConfirmTOTP calls Service.ConfirmTOTP and writes the audit rows.
func (d Audited) ConfirmTOTP(ctx context.Context, b Browser, s account.Session, digits string) (SignedIn, error) {
	return d.entered(ctx, s, "account.generator_added")(d.Service.ConfirmTOTP(ctx, b, s, digits))
}

// RemoveTOTP calls Service.RemoveTOTP and writes the audit rows.
func (d Audited) RemoveTOTP(ctx context.Context, b Browser, s account.Session) (SignedIn, error) {
	return d.entered(ctx, s, "account.generator_removed")(d.Service.RemoveTOTP(ctx, b, s))
}

// ByCode calls Service.ByCode and records a recovery that the sign-in applied or stopped.
func (d Audited) ByCode(ctx context.Context, b Browser, email, id, digits string) (SignedIn, error) {
	return d.recovering(ctx)(d.Service.ByCode(ctx, b, email, id, digits))
}

// ByPasskey calls Service.ByPasskey and records any account recovery that the sign-in applied or stopped.
func (d Audited) ByPasskey(ctx context.Context, b Browser, answer []byte) (SignedIn, error) {
	return d.recovering(ctx)(d.Service.ByPasskey(ctx, b, answer))
}

// ByTOTP calls Service.ByTOTP and records any account recovery that the sign-in applied or stopped.
func (d Audited) ByTOTP(ctx context.Context, b Browser, s account.Session, digits string) (SignedIn, error) {
	return d.recovering(ctx)(d.Service.ByTOTP(ctx, b, s, digits))
}

// ByRecoveryCode calls Service.ByRecoveryCode and writes the audit rows. The use of a recovery code suggests that a
// factor was lost or stolen, so the organisation's owners must be able to see it.
func (d Audited) ByRecoveryCode(ctx context.Context, b Browser, s account.Session, typed string) (SignedIn, error) {
	return d.recovering(ctx)(d.entered(ctx, s, "account.recovery_code_used")(d.Service.ByRecoveryCode(ctx, b, s, typed)))
}

// MakeRecoveryCodes calls Service.MakeRecoveryCodes and writes the audit rows.
func (d Audited) MakeRecoveryCodes(ctx context.Context, s account.Session) ([]secret.Text, error) {
	codes, err := d.Service.MakeRecoveryCodes(ctx, s)
	if err != nil {
		return nil, err
	}
	return codes, d.record(ctx, s.AccountID, "account.recovery_codes_made")
}

// AddPasskey calls Service.AddPasskey and writes the audit rows.
func (d Audited) AddPasskey(ctx context.Context, b Browser, s account.Session, name string,
	answer []byte,
) (SignedIn, error) {
	return d.entered(ctx, s, "account.passkey_added")(d.Service.AddPasskey(ctx, b, s, name, answer))
}

// RemovePasskey calls Service.RemovePasskey and writes the audit rows.
func (d Audited) RemovePasskey(ctx context.Context, b Browser, s account.Session, id string) (SignedIn, error) {
	return d.entered(ctx, s, "account.passkey_removed")(d.Service.RemovePasskey(ctx, b, s, id))
}

// ChangeAddress calls Service.ChangeAddress and writes the audit rows. The rows do not contain the email addresses.
func (d Audited) ChangeAddress(ctx context.Context, b Browser, s account.Session, email, id,
	digits string,
) (SignedIn, error) {
	return d.entered(ctx, s, "account.address_changed")(d.Service.ChangeAddress(ctx, b, s, email, id, digits))
}

// RestoreAddress calls Service.RestoreAddress and writes the audit rows. The audit rows record the account's owner as
// the actor, whoever used the link.
func (d Audited) RestoreAddress(ctx context.Context, token secret.Text) error {
	if err := d.Service.RestoreAddress(ctx, token); err != nil {
		return err
	}
	id, _, _ := strings.Cut(token.Reveal(), ".")
	id, _ = ids.ParseUUID(id)
	return d.record(ctx, id, "account.address_restored")
}

// SignOutEverywhere calls Service.SignOutEverywhere and writes the audit rows.
func (d Audited) SignOutEverywhere(ctx context.Context, s account.Session) error {
	if err := d.Service.SignOutEverywhere(ctx, s); err != nil {
		return err
	}
	return d.record(ctx, s.AccountID, "account.signed_out_everywhere")
}

// recovering returns a function that passes a sign-in's results through and records any recovery that the sign-in
// applied or stopped.
func (d Audited) recovering(ctx context.Context) func(SignedIn, error) (SignedIn, error) {
	return func(e SignedIn, err error) (SignedIn, error) {
		if err != nil || e.Recovery == "" {
			return e, err
		}
		return e, d.record(ctx, e.Session.AccountID, e.Recovery)
	}
}

func (d Audited) entered(
	ctx context.Context, s account.Session, action string,
) func(SignedIn, error) (SignedIn, error) {
	return func(e SignedIn, err error) (SignedIn, error) {
		if err != nil {
			return SignedIn{}, err
		}
		return e, d.record(ctx, s.AccountID, action)
	}
}

// record writes an audit row for a completed change in each of the account's organisations. If the account has no
// memberships, it does nothing.
func (d Audited) record(ctx context.Context, accountID, action string) error {
	all, err := d.deps.Accounts.Memberships(ctx, accountID)
	if err != nil {
		return fmt.Errorf("list memberships: %w", err)
	}
	for _, m := range all {
		if err := d.log.Append(ctx, audit.Row{
			At: d.deps.Now(), ID: d.deps.NewID(), Tenant: org.Tenant{Mode: org.Live, OrgID: m.OrgID},
			Actor: account.Actor(accountID), Action: action, Target: accountID,
		}); err != nil {
			return fmt.Errorf("audit %s: %w", action, err)
		}
	}
	return nil
}
