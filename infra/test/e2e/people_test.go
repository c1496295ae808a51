package e2e_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// proofAge is the age of a proof of identity that is too old for every action.
const proofAge = 16 * time.Minute

// people creates sessions directly in the tables, for tests that cover access rather than sign-in.
type people struct {
	*stack

	accounts store.Accounts
	flow     store.Flow
}

func (p people) signedIn(of string, role account.Role, isPending bool) who {
	p.t.Helper()
	ctx, now := p.t.Context(), time.Now()
	made := account.Account{ID: ids.Random(), Email: ids.Random() + "@members.example", CreatedAt: now}
	expect.NoError(p.t, p.accounts.CreateAccount(ctx, made))
	m := account.Membership{OrgID: of, AccountID: made.ID, Role: account.Owner, Since: now, Rev: 1}
	if role != "" {
		m.Role = role
		invited := account.Invitation{
			ID: ids.Random(), OrgID: of, Email: made.Email, Role: role, CreatedAt: now,
			ExpiresAt: now.Add(time.Hour),
		}
		expect.NoError(p.t, p.accounts.CreateInvitation(ctx, invited))
		invited.Rev = 1
		expect.NoError(p.t, p.accounts.AcceptInvitation(ctx, invited, m, ""))
	}
	return p.session(made.ID, isPending, now)
}

// stale returns a second session for the same account, with an outdated proof of identity.
func (p people) stale(by who) who {
	p.t.Helper()
	return p.session(by.account, false, time.Now().Add(-proofAge))
}

func (p people) session(accountID string, isPending bool, provenAt time.Time) who {
	p.t.Helper()
	token, now := secret.New(strings.Repeat("t", 11)+strings.ReplaceAll(ids.Random(), "-", "")), time.Now()
	expect.NoError(p.t, p.flow.StartSession(p.t.Context(), account.Session{
		Hash: account.Hash(token), AccountID: accountID, Pending: isPending, ProvenAt: provenAt, StartedAt: now, SeenAt: now,
	}, ""))
	return who{token: token, account: accountID}
}

// ask applies change to the headers and sends the request as a dashboard page would.
func (p people) ask(g guarded, path string, by who, body map[string]any, change func(http.Header)) answer {
	p.t.Helper()
	header := http.Header{"Sec-Fetch-Site": {"same-origin"}}
	if !by.token.Empty() {
		header.Set("Cookie", cookieOf(by))
		header.Set("X-CSRF-Token", account.CSRFToken(by.token))
	}
	if change != nil {
		change(header)
	}
	if g.Method == http.MethodGet {
		return p.send(g.Method, path, header, nil)
	}
	return p.send(g.Method, path, header, body)
}

func newPeople(t *testing.T) (people, string) {
	t.Helper()
	p := newPeopleOf(newStack(t, options{}))
	return p, p.ownerOf(t.Context(), p.seeded.Organisations[0].PublicID)
}

func newPeopleOf(s *stack) people {
	db := store.NewClient(s.cloud.Config("test"))
	return people{
		stack: s, accounts: store.Accounts{DB: db, Table: s.template.Outputs["ControlTable"]},
		flow: store.Flow{DB: db, Table: s.functions["DashboardOrgFunction"].declared.Environment["FLOW_TABLE"]},
	}
}

func cookieOf(by who) string {
	return httpapi.CookiesAt(host).Name(httpapi.SessionCookie) + "=" + by.token.Reveal()
}

func (p people) ownerOf(ctx context.Context, publicID string) string {
	p.t.Helper()
	found, err := p.operator.Credentials.Show(ctx, publicID)
	expect.NoError(p.t, err)
	return found.Tenant.OrgID
}
