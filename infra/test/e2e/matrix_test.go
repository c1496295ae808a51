package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.yaml.in/yaml/v3"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// guarded is a dashboard operation with its access rules from docs/openapi.yaml.
type guarded struct {
	Method, Path string
	Permission   string `yaml:"x-permission"`
	Proof        string `yaml:"x-proof"`
}

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

// who is a signed-in dashboard user.
type who struct {
	token   secret.Text
	account string
}

// column is a kind of caller, defined by a role, a fresh or stale proof of identity, and the organisation's live-access
// stage. The test calls every dashboard operation in both modes for each column of the permission matrix.
type column struct {
	role    account.Role
	isStale bool
	access  org.LiveAccess
}

func columns() []column {
	stages := []org.LiveAccess{org.LiveGranted, org.LiveNone}
	all := make([]column, 0, len(stages)*len(account.Roles())*2)
	for _, access := range stages {
		for _, role := range account.Roles() {
			all = append(all, column{role, false, access}, column{role, true, access})
		}
	}
	return all
}

// refusal returns the error code with which an operation must reject a user with the column's role in the given mode,
// or "" if access is allowed.
func (c column) refusal(g guarded, mode org.Mode) string {
	switch {
	case !c.role.May(account.Permission(g.Permission).In(mode)):
		return "svc_forbidden"
	case c.isStale && g.Proof != "" && account.Action(g.Proof).NeedsProof(mode):
		return "svc_proof_required"
	case c.access != org.LiveGranted && mode == org.Live && g.createsCredential():
		return "svc_live_access_required"
	}
	return ""
}

// createsCredential reports whether an operation creates a credential. Adding a key to a live credential also requires
// live access. In the permission matrix, only organisations with live access have live credentials.
func (g guarded) createsCredential() bool {
	return account.Action(g.Proof) == account.CreateKey && !strings.Contains(g.Path, "{publicId}")
}

// refusals returns the error codes that depend on the caller and not on the request.
func refusals() []string {
	return []string{"svc_forbidden", "svc_proof_required", "svc_live_access_required"}
}

type matrix struct {
	people

	orgs      map[org.LiveAccess]string
	byColumn  map[column]who
	elsewhere who // an owner of another organisation
	pending   who // an owner who has not yet verified a second factor
	hooks     map[string]string
	asked     int
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	p, own := newPeople(t)
	m := &matrix{people: p, orgs: make(map[org.LiveAccess]string), byColumn: map[column]who{}, hooks: map[string]string{}}
	made, err := p.operator.Organisations.Create(t.Context(),
		org.Organisation{Name: "Birch Hill Practice", Plan: org.Paid, LiveAccess: org.LiveNone})
	expect.NoError(t, err)
	m.orgs[org.LiveGranted], m.orgs[org.LiveNone] = own, made.ID
	for _, c := range columns() {
		if c.isStale {
			m.byColumn[c] = p.stale(m.byColumn[column{c.role, false, c.access}])
		} else {
			m.byColumn[c] = p.signedIn(m.orgs[c.access], c.role, false)
		}
	}
	for _, id := range m.orgs {
		for _, mode := range []org.Mode{org.Test, org.Live} {
			sub, _, err := p.operator.Webhooks.Create(t.Context(),
				webhook.Draft{Tenant: org.Tenant{Mode: mode, OrgID: id}, URL: "https://hooks.example/"})
			expect.NoError(t, err)
			m.hooks[id+string(mode)] = sub.ID
		}
	}
	m.elsewhere, m.pending = p.signedIn(ids.Random(), account.Owner, false), p.signedIn(own, account.Owner, true)
	return m
}

// ask sends a request that is valid enough for the response to depend only on the caller.
func (m *matrix) ask(g guarded, orgID string, mode org.Mode, by who, change func(http.Header)) answer {
	m.t.Helper()
	m.asked++
	path, body := g.Path, map[string]any{}
	if account.Action(g.Proof) == account.MoveWebhook { // a proof is required only if the webhook's row has a URL
		path = strings.Replace(path, "{webhookId}", m.hooks[orgID+string(mode)], 1)
		body["url"] = "https://hooks.example/" + ids.Random()
	}
	if g.createsCredential() {
		body["redirect_uris"] = []string{"https://app.example/return"}
	}
	return m.people.ask(g, pathOf(path, orgID, mode), by, body, change)
}

func (m *matrix) check(name string, g guarded, mode org.Mode, got answer, status int, code string) {
	m.t.Helper()
	if got.status != status || got.Error != code {
		m.t.Errorf("%s: %s %s in mode %q: %d %s, want %d %s", name, g.Method, g.Path, mode, got.status, got.raw, status, code)
	}
}

// TestDashboardEnforcesDocumentedPermissions calls the production function of every dashboard operation as every kind
// of caller in the permission matrix and as users without access. Each operation must enforce the permission
// (x-permission) and the proof of identity (x-proof) stated in docs/openapi.yaml.
func TestDashboardEnforcesDocumentedPermissions(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	synctest.Test(t, func(t *testing.T) {
		m := newMatrix(t)
		for _, g := range m.operations(t) {
			for _, mode := range modesOf(g.Path) {
				m.askStrangers(g, mode)
				switch needed := account.Permission(g.Permission); {
				case slices.Contains(account.Permissions(), needed):
					m.askMembers(g, mode)
				case g.Permission == "account":
					m.askAccount(g)
				case g.Permission != "session" && g.Permission != "none" || g.Proof != "":
					t.Errorf("%s %s: x-permission %q and x-proof %q say nobody", g.Method, g.Path, g.Permission, g.Proof)
				}
			}
		}
		if m.asked < 1500 {
			t.Errorf("only %d requests were made", m.asked)
		}
	})
}

// operations returns the operation for each dashboard route in template.yaml and each method that the route's function
// supports. operations fails the test if an operation is not documented.
func (m *matrix) operations(t *testing.T) []guarded {
	t.Helper()
	described := map[string]guarded{}
	for _, g := range dashboardOperations(t) {
		described[g.Method+" "+g.Path] = g
	}
	var all []guarded
	for _, f := range m.functions {
		for _, route := range f.declared.Routes {
			if !strings.HasPrefix(route.Path, "/dashboard/") {
				continue
			}
			got := m.send(http.MethodOptions, pathOf(route.Path, m.orgs[org.LiveGranted], org.Test),
				http.Header{"Sec-Fetch-Site": {"same-origin"}}, nil)
			for method := range strings.SplitSeq(got.header.Get("Allow"), ", ") {
				if method == http.MethodOptions || method == http.MethodHead {
					continue
				}
				g, isDescribed := described[method+" "+route.Path]
				if !isDescribed {
					t.Errorf("%s %s has no row in the matrix: docs/openapi.yaml does not describe it", method, route.Path)
					continue
				}
				all = append(all, g)
				delete(described, method+" "+route.Path)
			}
		}
	}
	for name := range described {
		t.Errorf("%s is described and does not exist", name)
	}
	return all
}

// askStrangers calls an operation as users who must never have access to it.
func (m *matrix) askStrangers(g guarded, mode org.Mode) {
	m.t.Helper()
	own := m.orgs[org.LiveGranted]
	owner := m.byColumn[column{account.Owner, false, org.LiveGranted}]
	refused := func(name string, by who, change func(http.Header), status int, code string) {
		m.check(name, g, mode, m.ask(g, own, mode, by, change), status, code)
	}
	refused("another site", owner, func(h http.Header) { h.Set("Sec-Fetch-Site", "cross-site") }, 403, "svc_forbidden")
	refused("a neighbour", owner, func(h http.Header) { h.Set("Sec-Fetch-Site", "same-site") }, 403, "svc_forbidden")
	if g.Permission == "none" {
		return
	}
	refused("nobody", who{}, nil, 401, "svc_session_required")
	refused("a guess", who{token: secret.New("guess")}, nil, 401, "svc_session_required")
	if g.Method != http.MethodGet {
		refused("no token", owner, func(h http.Header) { h.Del("X-CSRF-Token") }, 403, "svc_forbidden")
		refused("another's token", owner, func(h http.Header) { h.Set("X-CSRF-Token", account.CSRFToken(m.pending.token)) },
			403, "svc_forbidden")
	}
	if g.Permission == "session" {
		return
	}
	refused("before the second factor", m.pending, nil, 403, "svc_proof_required")
	if g.Permission != "account" {
		refused("another organisation's owner", m.elsewhere, nil, 404, "svc_not_found")
	}
}

// askMembers calls an operation as every kind of caller in the permission matrix.
func (m *matrix) askMembers(g guarded, mode org.Mode) {
	m.t.Helper()
	if !strings.Contains(g.Path, "{orgId}") {
		m.t.Errorf("%s %s: its permission is of members, but its path has no organisation", g.Method, g.Path)
	}
	for _, c := range columns() {
		got, want := m.ask(g, m.orgs[c.access], mode, m.byColumn[c], nil), c.refusal(g, mode)
		if isRefused := slices.Contains(refusals(), got.Error); isRefused != (want != "") || isRefused &&
			(got.Error != want || got.status != http.StatusForbidden) {
			m.t.Errorf("%+v: %s %s in mode %q: %d %s, want %q", c, g.Method, g.Path, mode, got.status, got.raw, want)
		}
	}
}

// askAccount calls an operation that affects only the caller's account. askAccount uses separate accounts because the
// operation may end an account's sessions.
func (m *matrix) askAccount(g guarded) {
	m.t.Helper()
	if strings.Contains(g.Path, "{orgId}") {
		m.t.Errorf("%s %s: its permission is of accounts, but its path has an organisation", g.Method, g.Path)
	}
	for _, isStale := range []bool{false, true} {
		by := m.signedIn(m.orgs[org.LiveGranted], account.Viewer, false)
		if isStale {
			by = m.stale(by)
		}
		got := m.ask(g, "", "", by, nil)
		if isAsked := got.Error == "svc_proof_required"; isAsked != (isStale && g.Proof != "") ||
			got.Error == "svc_forbidden" {
			m.t.Errorf("stale %t: %s %s: %d %s", isStale, g.Method, g.Path, got.status, got.raw)
		}
	}
}

// TestDashboardIsolatesTestAndLiveModes requests an organisation's test-mode rows through every path that identifies a
// row. The rows must exist in test mode but not in live mode. Another organisation's owner must not find the rows under
// either organisation's URL path.
func TestDashboardIsolatesTestAndLiveModes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, own := newPeople(t)
		owner := p.signedIn(own, account.Owner, false)
		stranger, err := p.operator.Organisations.Create(t.Context(),
			org.Organisation{Name: "Birch Hill Practice", Plan: org.Free})
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
			if got := p.ask(g, pathOf(path, own, org.Test), other, map[string]any{}, nil); got.status != http.StatusNotFound ||
				!strings.Contains(string(got.raw), "Organisation not found.") {
				t.Errorf("another organisation's owner, below the path of this one: %s %s: %d %s", g.Method, path,
					got.status, got.raw)
			}
			for name, ask := range map[string]struct {
				path string
				by   who
			}{
				"in the other mode":       {pathOf(path, own, org.Live), owner},
				"of another organisation": {pathOf(path, stranger.ID, org.Test), other},
			} {
				// The request body is empty, so a 400 means that the operation would reject it for any row.
				if got := p.ask(g, ask.path, ask.by, map[string]any{}, nil); got.status != http.StatusNotFound &&
					got.status != http.StatusBadRequest {
					t.Errorf("%s: %s %s: %d %s", name, g.Method, ask.path, got.status, got.raw)
				}
			}
			if g.Method == http.MethodGet {
				if got := p.ask(g, pathOf(path, own, org.Test), owner, nil, nil); got.status != http.StatusOK {
					t.Errorf("its own: %s %s: %d %s", g.Method, path, got.status, got.raw)
				}
			}
		}
	})
}

func (p people) rows(t *testing.T, tenant org.Tenant) map[string]string {
	t.Helper()
	ctx := t.Context()
	made, _, err := p.operator.Credentials.Create(ctx,
		operator.CredentialDraft{Tenant: tenant, Redirects: []string{"https://app.example/return"}})
	expect.NoError(t, err)
	hooks, err := p.operator.Webhooks.List(ctx, tenant)
	expect.NoError(t, err)
	connectionID := p.patient.connect(crashPersona, "approve").Get("org_connection_id")
	taskID := p.org.startExport(connectionID)
	p.clock.advance(1)
	event, err := p.operator.Deliveries.Simulate(ctx, tenant, hooks[0].ID, webhook.TestEvent)
	expect.NoError(t, err)
	_, err = p.operator.Erasures.Request(ctx, tenant, connectionID) // the erasure starts at the next scheduled run
	expect.NoError(t, err)
	return map[string]string{
		"{publicId}": made.PublicID(), "{keyId}": made.Keys[0].ID, "{webhookId}": hooks[0].ID, "{connectionId}": connectionID,
		"{taskId}":     taskID,
		"{deliveryId}": webhook.DeliveryID(event, hooks[0].ID),
	}
}

// modesOf returns the modes in which to test a path. A path without a mode is tested only once.
func modesOf(path string) []org.Mode {
	if strings.Contains(path, "{mode}") {
		return []org.Mode{org.Test, org.Live}
	}
	return []org.Mode{""}
}

// pathOf fills in a path's parameters, by default with IDs that do not exist.
func pathOf(path, orgID string, mode org.Mode) string {
	path = strings.NewReplacer("{orgId}", orgID, "{mode}", string(mode), "{taskId}",
		strings.ReplaceAll(ids.Random(), "-", ""),
		"{publicId}", fmt.Sprintf("public_%s_%s", mode, ids.Random())).Replace(path)
	for {
		from, to := strings.Index(path, "{"), strings.Index(path, "}")
		if from < 0 {
			return path
		}
		path = path[:from] + ids.Random() + path[to+1:]
	}
}
