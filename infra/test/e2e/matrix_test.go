package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v3"

	"recordbridge/shared/account"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/operator"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/store"
	"recordbridge/shared/testkit/expect"
	"recordbridge/shared/webhook"
)

// guarded is an operation of the dashboard, as docs/openapi.yaml has it.
type guarded struct {
	Method, Path string
	Permission   string `yaml:"x-permission"`
}

// dashboardOperations are all of them.
func dashboardOperations(t *testing.T) []guarded {
	t.Helper()
	text, err := os.ReadFile("../../../docs/openapi.yaml")
	expect.NoError(t, err)
	var api struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	expect.NoError(t, yaml.Unmarshal(text, &api))
	var all []guarded
	for path, methods := range api.Paths {
		if !strings.HasPrefix(path, "/dashboard/") {
			continue
		}
		for method, node := range methods {
			g := guarded{Method: strings.ToUpper(method), Path: path}
			expect.NoError(t, node.Decode(&g))
			all = append(all, g)
		}
	}
	return all
}

// who has a session in the matrix.
type who struct {
	token   secret.Text
	account string
}

// proofAge is the age of a proof of identity that is too old for every action that needs one.
const proofAge = 16 * time.Minute

// people make sessions beside the service: what is tried out is who is let in, not signing in.
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
		invited := account.Invitation{ID: ids.Random(), OrgID: of, Email: made.Email, Role: role, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
		expect.NoError(p.t, p.accounts.CreateInvitation(ctx, invited))
		invited.Rev = 1
		expect.NoError(p.t, p.accounts.AcceptInvitation(ctx, invited, m, ""))
	}
	return p.session(made.ID, isPending, now)
}

// stale returns a second session of somebody whose last proof of identity is too old.
func (p people) stale(by who) who {
	p.t.Helper()
	return p.session(by.account, false, time.Now().Add(-proofAge))
}

// session starts a session of an account that last proved who it is at a time.
func (p people) session(accountID string, isPending bool, provenAt time.Time) who {
	p.t.Helper()
	token, now := secret.New(strings.Repeat("t", 11)+strings.ReplaceAll(ids.Random(), "-", "")), time.Now()
	expect.NoError(p.t, p.flow.StartSession(p.t.Context(), account.Session{
		Hash: account.Hash(token), AccountID: accountID, Pending: isPending, ProvenAt: provenAt, StartedAt: now, SeenAt: now,
	}, ""))
	return who{token: token, account: accountID}
}

// ask sends a request of a page of the dashboard; change may spoil it.
func (p people) ask(g guarded, path string, by who, change func(http.Header)) answer {
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
	return p.send(g.Method, path, header, map[string]any{})
}

// TestTheDashboardLetsInWhomItsDescriptionLetsIn goes over every operation that docs/openapi.yaml describes below /dashboard, on the real
// functions behind the gateway: every role in both modes, members of another organisation, nobody, a session that is still to be proven, a
// request without the token, and one of another site. What the description says of a permission is what the code asks for.
func TestTheDashboardLetsInWhomItsDescriptionLetsIn(t *testing.T) {
	t.Parallel()
	isMany(t)
	synctest.Test(t, func(t *testing.T) {
		p, own := newPeople(t)
		owner, pending := p.signedIn(own, account.Owner, false), p.signedIn(own, account.Owner, true)
		byRole := make(map[account.Role]who, len(account.Roles()))
		byRole[account.Owner] = owner
		for _, role := range account.Roles()[1:] {
			byRole[role] = p.signedIn(own, role, false)
		}
		elsewhere := p.signedIn(ids.Random(), account.Owner, false)
		asked := 0
		for _, g := range dashboardOperations(t) {
			needed := account.Permission(g.Permission)
			isMembers := slices.Contains(account.Permissions(), needed)
			if !isMembers && !slices.Contains([]string{"account", "session", "none"}, g.Permission) {
				t.Errorf("%s %s: x-permission %q says nobody", g.Method, g.Path, g.Permission)
				continue
			}
			if isMembers != strings.Contains(g.Path, "{orgId}") {
				t.Errorf("%s %s: its permission is of members, or its path has an organisation, but not both", g.Method, g.Path)
			}
			for _, mode := range modesOf(g.Path) {
				path := pathOf(g.Path, own, mode)
				check := func(name string, got answer, status int, code string) {
					asked++
					if got.status != status || got.Error != code {
						t.Errorf("%s: %s %s: %d %s, want %d %s", name, g.Method, path, got.status, got.raw, status, code)
					}
				}
				site := func(h http.Header) { h.Set("Sec-Fetch-Site", "cross-site") }
				check("another site", p.ask(g, path, owner, site), 403, "svc_forbidden")
				check("a neighbour", p.ask(g, path, owner, func(h http.Header) { h.Set("Sec-Fetch-Site", "same-site") }), 403, "svc_forbidden")
				if g.Permission == "none" {
					continue
				}
				check("nobody", p.ask(g, path, who{}, nil), 401, "svc_session_required")
				check("a guess", p.ask(g, path, who{token: secret.New("guess")}, nil), 401, "svc_session_required")
				if g.Method != http.MethodGet {
					check("no token", p.ask(g, path, owner, func(h http.Header) { h.Del("X-CSRF-Token") }), 403, "svc_forbidden")
					check("another's token", p.ask(g, path, owner, func(h http.Header) { h.Set("X-CSRF-Token", account.CSRFToken(pending.token)) }), 403, "svc_forbidden")
				}
				if g.Permission == "session" {
					continue
				}
				check("before the second factor", p.ask(g, path, pending, nil), 403, "svc_proof_required")
				if !isMembers {
					continue
				}
				check("another organisation's owner", p.ask(g, path, elsewhere, nil), 404, "svc_not_found")
				for role, by := range byRole {
					got := p.ask(g, path, by, nil)
					asked++
					if isRefused := got.status == http.StatusForbidden && got.Error == "svc_forbidden"; isRefused == role.May(needed.In(mode)) {
						t.Errorf("%s, who needs %s: %s %s: %d %s", role, needed.In(mode), g.Method, path, got.status, got.raw)
					}
				}
			}
		}
		if asked < 500 {
			t.Errorf("only %d requests were made", asked)
		}
	})
}

// TestWhatIsOneModesIsNotInTheOther asks for real rows of an organisation in test mode by every path that names one: they are there,
// not in live mode, and not for another organisation's owner, below the path of either.
func TestWhatIsOneModesIsNotInTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, own := newPeople(t)
		owner := p.signedIn(own, account.Owner, false)
		stranger, err := p.operator.Organisations.Create(t.Context(), org.Organisation{Name: "Birch Hill Practice", Plan: org.Free})
		expect.NoError(t, err)
		other := p.signedIn(stranger.ID, account.Owner, false)
		known := p.rows(t, org.Tenant{Mode: org.Test, OrgID: own})
		for _, g := range dashboardOperations(t) {
			path, isNamed := g.Path, false
			for name, id := range known {
				isNamed = isNamed || strings.Contains(path, name)
				path = strings.ReplaceAll(path, name, id)
			}
			if !isNamed || !strings.Contains(path, "{mode}") {
				continue
			}
			if got := p.ask(g, pathOf(path, own, org.Test), other, nil); got.status != http.StatusNotFound || !strings.Contains(string(got.raw), "There is no such organisation.") {
				t.Errorf("another organisation's owner, below the path of this one: %s %s: %d %s", g.Method, path, got.status, got.raw)
			}
			for name, ask := range map[string]struct {
				path string
				by   who
			}{
				"in the other mode": {pathOf(path, own, org.Live), owner}, "of another organisation": {pathOf(path, stranger.ID, org.Test), other},
			} {
				// 400 is for a body that is wrong whatever the row: an empty one is sent.
				if got := p.ask(g, ask.path, ask.by, nil); got.status != http.StatusNotFound && got.status != http.StatusBadRequest {
					t.Errorf("%s: %s %s: %d %s", name, g.Method, ask.path, got.status, got.raw)
				}
			}
			if g.Method == http.MethodGet {
				if got := p.ask(g, pathOf(path, own, org.Test), owner, nil); got.status != http.StatusOK {
					t.Errorf("its own: %s %s: %d %s", g.Method, path, got.status, got.raw)
				}
			}
		}
	})
}

// rows makes one of each that a path can name.
func (p people) rows(t *testing.T, tenant org.Tenant) map[string]string {
	t.Helper()
	ctx := t.Context()
	made, _, err := p.operator.Credentials.Create(ctx, operator.CredentialDraft{Tenant: tenant, Redirects: []string{"https://app.example/return"}})
	expect.NoError(t, err)
	hooks, err := p.operator.Webhooks.List(ctx, tenant)
	expect.NoError(t, err)
	connectionID := p.connect(crashPersona, "approve").Get("org_connection_id")
	taskID := p.startExport(connectionID)
	p.letPass(1)
	event, err := p.operator.Webhooks.Simulate(ctx, tenant, hooks[0].ID, webhook.TestEvent)
	expect.NoError(t, err)
	_, err = p.operator.Connections.Erase(ctx, tenant, connectionID) // begins with the next tick
	expect.NoError(t, err)
	return map[string]string{
		"{publicId}": made.PublicID(), "{keyId}": made.Keys[0].ID, "{webhookId}": hooks[0].ID, "{connectionId}": connectionID, "{taskId}": taskID,
		"{deliveryId}": webhook.DeliveryID(event, hooks[0].ID),
	}
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

// cookieOf is what the browser of somebody sends.
func cookieOf(by who) string { return httpapi.SessionCookieName + "=" + by.token.Reveal() }

// ownerOf is the organisation of a public id.
func (p people) ownerOf(ctx context.Context, publicID string) string {
	p.t.Helper()
	found, err := p.operator.Credentials.Show(ctx, publicID)
	expect.NoError(p.t, err)
	return found.Tenant.OrgID
}

// modesOf are the modes that a path is asked in; one that has none is asked once.
func modesOf(path string) []org.Mode {
	if strings.Contains(path, "{mode}") {
		return []org.Mode{org.Test, org.Live}
	}
	return []org.Mode{""}
}

// pathOf fills a path in, with ids of nothing where none was given.
func pathOf(path, orgID string, mode org.Mode) string {
	path = strings.NewReplacer("{orgId}", orgID, "{mode}", string(mode), "{taskId}", strings.ReplaceAll(ids.Random(), "-", ""),
		"{publicId}", fmt.Sprintf("public_%s_%s", mode, ids.Random())).Replace(path)
	for {
		from, to := strings.Index(path, "{"), strings.Index(path, "}")
		if from < 0 {
			return path
		}
		path = path[:from] + ids.Random() + path[to+1:]
	}
}
