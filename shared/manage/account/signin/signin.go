// Package signin implements sign-in to the dashboard and account maintenance: emailed codes, passkeys, authenticator
// apps, sessions and changes of email address (docs/adr/0036-the-dashboard.md).
package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// product is the issuer name shown in emails and authenticator apps.
const product = "Recordbridge"

// SecretPurpose is the purpose in the encryption context of sealed authenticator secrets (kms.Sealer).
const SecretPurpose = "account"

// Deps holds the dependencies of sign-in. Every field except Mailer is required.
type Deps struct {
	Accounts  Accounts
	Sessions  Sessions
	Buckets   Buckets
	Codes     verification.Sender
	Checker   verification.Checker
	Proofs    verification.Proofs
	Passkeys  Passkeys
	Vault     Vault
	Mailer    verification.Mailer // nil if this stack does not send email
	Limits    maillimit.Limiter
	Dashboard string         // URL of the dashboard
	Hashing   secret.Keyring // keys for hashing recovery codes
	Random    io.Reader
	NewID     ids.Source
	Now       func() time.Time
}

// Accounts stores accounts. store.Accounts implements it.
type Accounts interface {
	account.Rows
	// AccountAt returns the account with the given email address. It returns fault.NotFound if the address has no
	// account.
	AccountAt(ctx context.Context, address string) (account.AddressOwner, error)
	// CreateAccount stores a new account. It returns fault.Conflict if the email address already has an account.
	CreateAccount(ctx context.Context, a account.Account) error
	// SaveAccount stores an account without changing its email address. It returns fault.Conflict if the account has
	// changed since it was read.
	SaveAccount(ctx context.Context, a account.Account) error
	// MoveAccount is like SaveAccount but also changes the email address and reserves the former address for the
	// account. MoveAccount also returns fault.Conflict if the new address already has an account.
	MoveAccount(ctx context.Context, a account.Account) error
	// MoveAccountBack restores an account's former email address and releases left, the address that it replaces. It
	// returns fault.Conflict if the account or an address has changed since it was read.
	MoveAccountBack(ctx context.Context, a account.Account, left string) error
	// RecoveryCodes reads an account's recovery codes. It returns fault.NotFound if there are none. SaveRecoveryCodes
	// stores an account's recovery codes. It returns fault.Conflict if they have changed since they were read.
	RecoveryCodes(ctx context.Context, accountID string) (account.RecoveryCodes, error)
	SaveRecoveryCodes(ctx context.Context, accountID string, codes account.RecoveryCodes) error
	// SaveFirstFactor saves an account and its recovery codes in a single write. It returns fault.Conflict if the
	// account or the codes have changed since they were read.
	SaveFirstFactor(ctx context.Context, a account.Account, codes account.RecoveryCodes) error
	account.RecoveryRows
	// SaveRecovered saves an account and its recovery in a single write. It returns fault.Conflict if the account or
	// the recovery has changed since it was read.
	SaveRecovered(ctx context.Context, a account.Account, r account.Recovery) error
	// Memberships returns the memberships of an account.
	Memberships(ctx context.Context, accountID string) ([]account.Membership, error)
}

// Sessions stores sessions, devices and ceremonies. store.Flow implements it.
type Sessions interface {
	// StartSession stores a session. If replaced is not empty, StartSession also removes the session whose hash is
	// replaced.
	StartSession(ctx context.Context, started account.Session, replaced string) error
	// EndSession removes a session if it exists.
	EndSession(ctx context.Context, hash string) error
	// RememberDevice remembers a browser for an email address. IsDevice reports whether a browser is remembered for an
	// address.
	RememberDevice(ctx context.Context, hash string, until time.Time) error
	IsDevice(ctx context.Context, hash string, now time.Time) (bool, error)
	// BeginCeremony stores a ceremony under its challenge's hash. TakeCeremony removes and returns a ceremony, or
	// returns fault.NotFound.
	BeginCeremony(ctx context.Context, hash string, c account.Ceremony) error
	TakeCeremony(ctx context.Context, hash string, now time.Time) (account.Ceremony, error)
}

// Buckets counts sign-in attempts against limits. store.Flow implements it.
type Buckets interface {
	Take(ctx context.Context, key string, limit ratelimit.Limit, now time.Time) (ratelimit.Decision, error)
}

// Vault encrypts and decrypts an account's private data. kms.Sealer implements it.
type Vault interface {
	Seal(ctx context.Context, tenant org.Tenant, boundTo string, plain []byte) ([]byte, error)
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Passkeys creates and verifies passkey ceremonies for the dashboard's host. passkey.Party implements it.
type Passkeys interface {
	Register(a account.Account) (account.Begun, error)
	Registered(a account.Account, state, answer []byte) (account.Passkey, error)
	Ask() (account.Begun, error)
	Claim(answer []byte) (account.Claim, error)
	Prove(a account.Account, state, answer []byte) (account.Passkey, error)
}

// Browser is the state of the browser in which a user signs in.
type Browser struct {
	Session secret.Text // token of the complete or pending session to end; may be empty
	Device  secret.Text // device token; empty if the browser is new
	Network string      // browser's network, used to limit the number of codes
}

// SignedIn holds the tokens of a new session. The tokens may be sent to browsers only in cookies.
type SignedIn struct {
	Token   secret.Text
	Device  secret.Text
	Session account.Session
	// Recovery is the sign-in's effect on an operator's recovery of the account: Recovered, Stopped, or "" for none.
	Recovery string
	// RecoveryCodes holds the codes created with the account's first second factor. The dashboard shows the codes only
	// once.
	RecoveryCodes []secret.Text
}

// DeviceLife is the time for which a browser is remembered.
const DeviceLife = 180 * 24 * time.Hour

// SignOut ends a single session of an account.
func (d AccountSessions) SignOut(ctx context.Context, s account.Session) error {
	if err := d.sessions.EndSession(ctx, s.Hash); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// SignOutEverywhere ends all sessions of an account.
func (d AccountSessions) SignOutEverywhere(ctx context.Context, s account.Session) error {
	_, err := d.change(ctx, s.AccountID, func(*account.Account) error { return nil })
	return err
}

// Account returns the account of a session, together with the account's memberships.
func (d AccountSessions) Account(ctx context.Context,
	s account.Session,
) (account.Account, []account.Membership, error) {
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return account.Account{}, nil, fmt.Errorf("read account: %w", err)
	}
	if s.Pending {
		return a, nil, nil
	}
	all, err := d.accounts.Memberships(ctx, s.AccountID)
	if err != nil {
		return account.Account{}, nil, fmt.Errorf("list memberships: %w", err)
	}
	return a, all, nil
}

// enter starts a session and, if the browser is new, notifies the account's owner.
func (d entrance) enter(ctx context.Context, a account.Account, b Browser, pending bool) (SignedIn, error) {
	token, err := account.NewToken(d.random)
	if err != nil {
		return SignedIn{}, fmt.Errorf("begin session: %w", err)
	}
	now := d.now()
	started := account.Session{
		Hash: account.Hash(token), AccountID: a.ID, Epoch: a.Epoch, Pending: pending, ProvenAt: now,
		StartedAt: now, SeenAt: now,
	}
	replaced := ""
	if !b.Session.Empty() {
		replaced = account.Hash(b.Session)
	}
	if err = d.sessions.StartSession(ctx, started, replaced); err != nil {
		return SignedIn{}, fmt.Errorf("begin session: %w", err)
	}
	entered := SignedIn{Token: token, Device: b.Device, Session: started}
	if pending {
		return entered, nil
	}
	entered.Device, err = d.know(ctx, a, b.Device)
	return entered, err
}

// know remembers a browser for an account's email address and returns the browser's device token. A device token is
// valid only for the email addresses that were used with it.
func (d entrance) know(ctx context.Context, a account.Account, device secret.Text) (secret.Text, error) {
	now, known := d.now(), false
	var err error
	if !device.Empty() {
		if known, err = d.sessions.IsDevice(ctx, deviceHash(device, a.Email), now); err != nil {
			return secret.Text{}, fmt.Errorf("look for device: %w", err)
		}
	} else if device, err = account.NewToken(d.random); err != nil {
		return secret.Text{}, fmt.Errorf("make device: %w", err)
	}
	if err := d.sessions.RememberDevice(ctx, deviceHash(device, a.Email), now.Add(DeviceLife)); err != nil {
		return secret.Text{}, fmt.Errorf("know device: %w", err)
	}
	if !known && a.CreatedAt.Before(now) {
		d.tell(ctx, a.Email, newDevice(d.dashboard, now))
	}
	return device, nil
}

// tell sends a non-essential email. A failure to send is only logged.
func (d post) tell(ctx context.Context, address string, l mailtext.Message) {
	if err := d.mail(ctx, address, l); err != nil {
		logx.Add(ctx, slog.Bool("mail_failed", true))
	}
}

const mailTime = 6 * time.Second

func (d post) mail(ctx context.Context, address string, l mailtext.Message) error {
	if d.mailer == nil {
		return fault.New(fault.Unavailable, fault.CodeUnavailable, "This service is not set up to send e-mail.")
	}
	counted := maillimit.Mail{Purpose: maillimit.Account, From: maillimit.From{Account: "", Organisation: ""}, To: address}
	if err := d.limits.Take(ctx, counted); err != nil {
		return fmt.Errorf("count e-mail: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	if err := d.mailer.Send(ctx, []string{address}, l.Subject, l.Text(), l.HTML()); err != nil {
		return fault.New(fault.Unavailable, fault.CodeUnavailable,
			"The e-mail could not be sent. Please try again in a minute.").Because(err)
	}
	return nil
}

// deviceHash returns the hash under which a device is stored. The device token is secret, so the hash does not reveal
// the email address.
func deviceHash(device secret.Text, address string) string {
	return account.Hash(secret.New(device.Reveal() + "\x00" + account.Fold(address)))
}

// change modifies an account and ends its sessions, so users must sign in again with the factors that are now required.
func (d entrance) change(ctx context.Context, id string, change func(*account.Account) error) (account.Account, error) {
	a, err := d.accounts.Account(ctx, id)
	if err != nil {
		return account.Account{}, fmt.Errorf("read account: %w", err)
	}
	if err := change(&a); err != nil {
		return account.Account{}, err
	}
	a.Epoch++
	if err := d.accounts.SaveAccount(ctx, a); err != nil {
		return account.Account{}, fmt.Errorf("save account: %w", err)
	}
	return a, nil
}

// refused returns a client error with the given public text if err means that a row is missing or has changed;
// otherwise, it returns err.
func refused(err error, public string) error {
	if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) {
		return fault.BadRequest(public).Because(err)
	}
	return err
}
