package account_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

type rows struct {
	session account.Session
	owner   account.Account
	err     error
	seen    []time.Time
}

func (r *rows) Session(_ context.Context, hash string) (account.Session, error) {
	if r.err != nil {
		return account.Session{}, r.err
	}
	if hash != r.session.Hash {
		return account.Session{}, fault.Missing("Record not found.")
	}
	return r.session, nil
}

func (r *rows) TouchSession(_ context.Context, hash string, at time.Time) error {
	if hash != r.session.Hash {
		return fault.Stale()
	}
	r.seen, r.session.SeenAt = append(r.seen, at), at
	return nil
}

func (r *rows) Account(_ context.Context, id string) (account.Account, error) {
	if id != r.owner.ID {
		return account.Account{}, fault.Missing("Record not found.")
	}
	return r.owner, nil
}

func (*rows) Membership(context.Context, string, string) (account.Membership, error) {
	return account.Membership{}, fault.Missing("Record not found.")
}

func newRows() *rows {
	return &rows{
		owner: account.Account{ID: "ac-1", Epoch: 3},
		session: account.Session{
			Hash: account.Hash(secret.New("token")), AccountID: "ac-1", Epoch: 3, ProvenAt: began, StartedAt: began,
			SeenAt: began,
		},
	}
}

func find(t *testing.T, r *rows, token string, at time.Time) (account.Session, error) {
	t.Helper()
	finder := account.Sessions{Rows: r, Accounts: r, Now: func() time.Time { return at }}
	return finder.Session(t.Context(), secret.New(token))
}

func TestSessionIsRejectedAfterExpiryOrSignOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*rows)
		token  string
		after  time.Duration
		over   bool
	}{
		"it goes on":             {},
		"just before it is idle": {after: 2*time.Hour - time.Microsecond},
		"idle for two hours":     {after: 2 * time.Hour, over: true},
		"used until the twelfth hour": {
			after:  12*time.Hour - time.Microsecond,
			change: func(r *rows) { r.session.SeenAt = began.Add(11 * time.Hour) },
		},
		"the twelfth hour": {
			after: 12 * time.Hour, over: true,
			change: func(r *rows) { r.session.SeenAt = began.Add(11 * time.Hour) },
		},
		"signed out everywhere":  {over: true, change: func(r *rows) { r.owner.Epoch++ }},
		"an earlier epoch again": {over: true, change: func(r *rows) { r.owner.Epoch-- }},
		"its account is gone":    {over: true, change: func(r *rows) { r.owner.ID = "ac-2" }},
		"another token":          {over: true, token: "Token"},
		"the hash for the token": {over: true, token: account.Hash(secret.New("token"))},
		"no token":               {over: true, token: "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRows()
			if c.change != nil {
				c.change(r)
			}
			token := map[string]string{"": "token", "-": ""}[c.token]
			if c.token != "" && c.token != "-" {
				token = c.token
			}
			_, err := find(t, r, token, began.Add(c.after))
			if c.over != errors.Is(err, fault.Unauthenticated) || !c.over && err != nil {
				t.Errorf("found with %v", err)
			}
		})
	}
}

func TestSessionReturnsInternalErrorWhenStoreFails(t *testing.T) {
	t.Parallel()
	r := newRows()
	r.err = errors.New("store down")
	if _, err := find(t, r, "token", began); err == nil || errors.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v, want a failure of our own", err)
	}
}

func TestSessionRecordsActivityEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	r := newRows()
	for _, after := range []time.Duration{
		time.Minute, 4 * time.Minute, 5 * time.Minute, 9 * time.Minute,
		10 * time.Minute,
	} {
		if _, err := find(t, r, "token", began.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []time.Time{began.Add(5 * time.Minute), began.Add(10 * time.Minute)}; !slices.Equal(r.seen, want) {
		t.Errorf("written down at %v, want %v", r.seen, want)
	}
}

func TestNewTokenReturnsDistinct43CharacterTokens(t *testing.T) {
	t.Parallel()
	one, err := account.NewToken(rand.Reader)
	expect.NoError(t, err)
	other, err := account.NewToken(rand.Reader)
	expect.NoError(t, err)
	if len(one.Reveal()) != 43 || one.Equal(other) {
		t.Errorf("tokens of %d characters", len(one.Reveal()))
	}
	if csrf := account.CSRFToken(one); csrf == account.CSRFToken(other) || csrf == one.Reveal() ||
		csrf == account.Hash(one) {
		t.Error("the token against forgeries is none of its session's own")
	}
	if _, err := account.NewToken(broken{}); err == nil {
		t.Error("a token was made without randomness")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no randomness") }
