package signin_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/manage/passkey"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	ada       = "ada@alder.example"
	bob       = "bob@alder.example"
	dashboard = "https://dash.recordbridge.example/dashboard"
	origin    = "https://dash.recordbridge.example"
	host      = "dash.recordbridge.example"
)

// house holds a dashboard whose data is stored in DynamoDB. Tests can advance its clock.
type house struct {
	signin.Service

	deps signin.Deps
	t    *testing.T
	post *post
	find account.Sessions
	now  time.Time
}

func newHouse(t *testing.T) *house {
	t.Helper()
	made := tables.New(t)
	flow := store.Flow{DB: made.DB, Table: made.Name("FlowTable")}
	accounts := store.Accounts{DB: made.DB, Table: made.Name("ControlTable")}
	keys, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	party, err := passkey.New(dashboard, "Recordbridge")
	expect.NoError(t, err)
	h := &house{t: t, post: &post{}, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	now := func() time.Time { return h.now }
	h.find = account.Sessions{Rows: flow, Accounts: accounts, Now: now}
	limits := maillimit.Limiter{Buckets: flow, Keys: keys, Now: now}
	h.deps = signin.Deps{
		Accounts: accounts, Sessions: flow, Buckets: flow, Passkeys: party, Vault: plainVault{}, Mailer: h.post,
		Limits: limits, Dashboard: dashboard,
		Codes: verification.Sender{
			Store: flow, Mailer: h.post, Keys: keys, Random: rand.Reader, NewID: ids.Random,
			Now: now, PerHour: 5, Limits: limits,
		},
		Checker: verification.Checker{Store: flow, Keys: keys, Random: rand.Reader, Now: now},
		Proofs:  verification.Proofs{Store: flow, Keys: keys, Now: now},
		Hashing: keys, Random: rand.Reader, NewID: ids.Random, Now: now,
	}
	h.Service = signin.New(h.deps)
	return h
}

func (h *house) enter(email string, b signin.Browser) signin.SignedIn {
	h.t.Helper()
	sent, err := h.SendCode(h.t.Context(), email, b)
	expect.NoError(h.t, err)
	entered, err := h.ByCode(h.t.Context(), b, email, sent.ID, h.post.code())
	expect.NoError(h.t, err)
	return entered
}

func (h *house) isIn(token secret.Text) bool {
	h.t.Helper()
	_, err := h.find.Session(h.t.Context(), token)
	if err != nil && !errors.Is(err, fault.Unauthenticated) {
		h.t.Fatal(err)
	}
	return err == nil
}

func (h *house) wait(d time.Duration) { h.now = h.now.Add(d) }

type sentMail struct{ to, subject, text, html string }

type post struct {
	mu   sync.Mutex
	sent []sentMail
	err  error
}

func (p *post) Send(_ context.Context, to []string, subject, text, html string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	p.sent = append(p.sent, sentMail{to: strings.Join(to, " "), subject: subject, text: text, html: html})
	return nil
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// code returns the code from the latest email that contains one.
func (p *post) code() string {
	for _, m := range slices.Backward(p.sent) {
		if code := sixDigits.FindString(m.text); code != "" {
			return code
		}
	}
	return ""
}

func (p *post) last(to string) sentMail {
	for _, m := range slices.Backward(p.sent) {
		if m.to == to {
			return m
		}
	}
	return sentMail{}
}

// plainVault stores secrets unencrypted and checks their bindings.
type plainVault struct{}

func (plainVault) Seal(_ context.Context, of org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return fmt.Appendf(nil, "%s|%s|%s", of.Key(), boundTo, plain), nil
}

func (plainVault) Open(_ context.Context, of org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	plain, ok := strings.CutPrefix(string(sealed), of.Key()+"|"+boundTo+"|")
	if !ok {
		return nil, errors.New("sealed for another place")
	}
	return []byte(plain), nil
}
