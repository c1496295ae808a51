package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/secret"
)

// quietOperations returns the operations other than GET that write no audit row, each with the reason.
func quietOperations() map[string]string {
	const comes = "who comes and goes changes nothing; an e-mail tells of a new browser"
	const begins = "changes nothing before the operation that ends it, which is audited"
	return map[string]string{
		"POST /dashboard/session/codes":            comes,
		"POST /dashboard/session":                  comes,
		"DELETE /dashboard/session":                comes,
		"POST /dashboard/session/passkey/options":  comes,
		"POST /dashboard/session/passkey":          comes,
		"POST /dashboard/session/totp":             comes,
		"POST /dashboard/account/totp":             begins,
		"POST /dashboard/account/passkeys/options": begins,
		"POST /dashboard/account/email":            begins,
	}
}

// auditor is API middleware that checks that each dashboard change writes an audit row.
type auditor struct {
	people

	log        audit.Log
	operations []guarded
	last       map[string]int64 // sequence number of each organisation's last seen row
	changed    map[string]bool
}

func (p people) newAuditor(t *testing.T) *auditor {
	t.Helper()
	a := &auditor{
		people: p, log: wiring.AuditLog(p.cloud.Config("reader"), map[string]string{"AuditTable": "test-AuditTable"}),
		operations: dashboardOperations(t),
		last:       map[string]int64{}, changed: map[string]bool{},
	}
	served := p.gateway
	p.gateway = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/v1")
		if r.Method == http.MethodGet || !strings.HasPrefix(path, "/dashboard/") {
			served.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		expect.NoError(p.t, err)
		r.Body = io.NopCloser(bytes.NewReader(body))
		who := a.whoAsks(r.Context(), r, body) // look up before the request changes the session
		out := httptest.NewRecorder()
		served.ServeHTTP(out, r)
		a.look(r.Context(), r.Method, path, who, out.Code == http.StatusOK)
		maps.Copy(w.Header(), out.Header())
		w.WriteHeader(out.Code)
		_, _ = w.Write(out.Body.Bytes())
	})
	return a
}

// whoAsks returns the account to which the request's session belongs. For a link sent to a former email address, it
// returns the account to which the link belongs.
func (a *auditor) whoAsks(ctx context.Context, r *http.Request, body []byte) string {
	a.t.Helper()
	cookie, err := r.Cookie(httpapi.CookiesAt(host).Name(httpapi.SessionCookie))
	if err != nil {
		cookie = &http.Cookie{}
	}
	if s, err := a.flow.Session(ctx, account.Hash(secret.New(cookie.Value))); err == nil {
		return s.AccountID
	}
	var link struct{ Token string }
	_ = json.Unmarshal(body, &link) // not every body contains a link
	id, _, _ := strings.Cut(link.Token, ".")
	return id
}

// look compares the new audit rows in the member's organisations with the rows that the operation should write.
func (a *auditor) look(ctx context.Context, method, path, who string, worked bool) {
	a.t.Helper()
	i := slices.IndexFunc(a.operations, func(g guarded) bool { return g.Method == method && isPathOf(g.Path, path) })
	if i < 0 {
		a.t.Errorf("%s %s is described nowhere", method, path)
		return
	}
	operation := method + " " + a.operations[i].Path
	all, err := a.accounts.Memberships(ctx, who)
	expect.NoError(a.t, err)
	told := false
	for _, m := range all {
		rows, _, err := a.log.List(ctx, m.OrgID, 0, 100)
		expect.NoError(a.t, err)
		for _, row := range rows {
			isNew := row.Seq > a.last[m.OrgID] && row.Actor == account.Actor(who)
			if told = told || isNew; isNew && !strings.Contains(row.From, "/") {
				a.t.Errorf("%s is recorded without the member's network: %+v", operation, row)
			}
		}
		if len(rows) > 0 {
			a.last[m.OrgID] = rows[0].Seq
		}
	}
	_, isQuiet := quietOperations()[operation]
	a.changed[operation] = a.changed[operation] || worked && (isQuiet || len(all) > 0)
	if told != (worked && !isQuiet) && len(all) > 0 {
		a.t.Errorf("%s, which worked: %t, and is quiet: %t, is told in the audit log as %s's: %t", operation, worked,
			isQuiet, who, told)
	}
}

// isPathOf reports whether a path matches a declared path with parameters.
func isPathOf(declared, path string) bool {
	want, got := strings.Split(declared, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") })
}

// TestDashboardAuditsEveryChange covers every operation below /dashboard in docs/openapi.yaml except GET. Each
// operation not listed in quietOperations must write an audit row that names the member. The resulting audit chain must
// be intact, and verification must detect any change to it.
func TestDashboardAuditsEveryChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		a := newPeopleOf(s).newAuditor(t)
		runPeople(s)
		runDashboard(s)
		n := s.staff.newNewcomer()
		n.complete()
		n.request()
		for _, g := range a.operations {
			if operation := g.Method + " " + g.Path; g.Method != http.MethodGet && !a.changed[operation] {
				t.Errorf("%s did not work once", operation)
			}
		}
		for operation := range quietOperations() {
			if !a.changed[operation] {
				t.Errorf("there is no %s", operation)
			}
		}
		a.checkHidden(t, s.seeded.Organisations[0].ID)
		a.checkTampering(t, s.seeded.Organisations[0].ID)
	})
}

// checkHidden checks that an organisation's audit log contains neither email addresses nor secrets.
func (a *auditor) checkHidden(t *testing.T, orgID string) {
	t.Helper()
	var file bytes.Buffer
	_, err := a.log.Export(t.Context(), orgID, &file)
	expect.NoError(t, err)
	for line := range strings.Lines(file.String()) {
		for _, hidden := range []string{"@", "whsec_", "whsk_", "private_test_", "private_live_", "?"} {
			if strings.Contains(line, hidden) {
				t.Errorf("the audit log contains %q: %s", hidden, line)
			}
		}
	}
}

// checkTampering changes the audit table as an attacker with write access could. Verification must detect each change;
// checkTampering then reverts it.
func (a *auditor) checkTampering(t *testing.T, orgID string) {
	t.Helper()
	found := func() []audit.Break {
		report, err := a.log.Verify(t.Context(), orgID)
		expect.NoError(t, err)
		return report.Breaks
	}
	if got := found(); len(got) != 0 {
		t.Fatalf("nobody touched it: %v", got)
	}
	rows, _, err := a.log.List(t.Context(), orgID, 0, 100)
	expect.NoError(t, err)
	end, middle := rows[0].Seq, rows[0].Seq/2
	for name, c := range map[string]struct {
		to   func(row map[string]types.AttributeValue) // changes the row; if nil, the row is removed
		at   int64
		want audit.Finding
	}{
		"another actor": {at: middle, want: audit.Changed, to: func(row map[string]types.AttributeValue) {
			row["actor"] = &types.AttributeValueMemberS{Value: "operator"}
		}},
		"a row is removed":      {at: middle, want: audit.Missing},
		"the end is cut off":    {at: end, want: audit.CutOff},
		"a row is put in front": {at: middle, want: audit.Unlinked, to: a.copyOf(t, orgID, middle-1)},
		"a row is added":        {at: end + 1, want: audit.Added, to: a.copyOf(t, orgID, end)},
	} {
		undo := a.tamper(t, orgID, c.at, c.to)
		if got := found(); !slices.Contains(got, audit.Break{Seq: c.at, What: c.want}) {
			t.Errorf("%s: found %v, want %s at %d", name, got, c.want, c.at)
		}
		undo()
	}
	if got := found(); len(got) != 0 {
		t.Errorf("everything is as it was: %v", got)
	}
}

// tamper replaces or removes a row. It returns a function that restores the row.
func (a *auditor) tamper(t *testing.T, orgID string, seq int64,
	to func(row map[string]types.AttributeValue),
) (undo func()) {
	t.Helper()
	table, key := "test-AuditTable", auditKey(orgID, seq)
	was, err := a.stack.rows.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
	expect.NoError(t, err)
	put := func(row map[string]types.AttributeValue) {
		t.Helper()
		var err error
		if row == nil {
			_, err = a.stack.rows.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
		} else {
			_, err = a.stack.rows.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: row})
		}
		expect.NoError(t, err)
	}
	if to == nil {
		put(nil)
	} else {
		changed := maps.Clone(was.Item)
		if changed == nil {
			changed = auditKey(orgID, seq)
		}
		to(changed)
		put(changed)
	}
	return func() { put(was.Item) }
}

// copyOf returns a change that replaces a row's content with another row's, as an attacker might to insert a row.
func (a *auditor) copyOf(t *testing.T, orgID string, seq int64) func(row map[string]types.AttributeValue) {
	t.Helper()
	table := "test-AuditTable"
	other, err := a.stack.rows.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: auditKey(orgID, seq)})
	expect.NoError(t, err)
	return func(row map[string]types.AttributeValue) {
		pk, sk, at := row["pk"], row["sk"], row["seq"]
		maps.Copy(row, other.Item)
		row["pk"], row["sk"] = pk, sk
		if at != nil {
			row["seq"] = at
		}
	}
}

func auditKey(orgID string, seq int64) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "ORG#" + orgID},
		"sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("ROW#%012d", seq)},
	}
}
