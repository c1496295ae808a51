package membertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

// CheckMember checks that an organisation's endpoint allows exactly the roles that have the permission needed. e is a
// request that an owner may send for OrgA in test mode, with a path below /dashboard/organisations/{orgId}. The cases
// run as parallel subtests, each with a separate handler.
func CheckMember(t *testing.T, route string, e Exchange, needed account.Permission, newHandler func() http.Handler) {
	t.Helper()
	for name, c := range strangers(e) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Check(t, route, newHandler())
		})
	}
	for _, mode := range modesOf(route) {
		for _, role := range account.Roles() {
			t.Run(string(mode)+" "+string(role), func(t *testing.T) {
				t.Parallel()
				asked := e
				asked.As, asked.Path = string(role), strings.Replace(e.Path, OrgA+"/"+string(org.Test), OrgA+"/"+string(mode), 1)
				w := asked.Send(t, route, newHandler())
				if isRefused(w) == role.May(needed.In(mode)) {
					t.Errorf("%s, who needs %s: %d %s", role, needed.In(mode), w.Code, w.Body)
				}
			})
		}
	}
}

// strangers returns copies of the request from callers without access, each with the expected response.
func strangers(e Exchange) map[string]Exchange {
	refused := func(who string, status int, want string, change func(*Exchange)) Exchange {
		changed := e
		changed.As, changed.Status, changed.Want, changed.Header = who, status, want, nil
		change(&changed)
		return changed
	}
	at := func(to string) func(*Exchange) {
		return func(e *Exchange) { e.Path = strings.Replace(e.Path, OrgA, to, 1) }
	}
	from := func(site string) func(*Exchange) { return func(e *Exchange) { e.Site = site } }
	cases := map[string]Exchange{
		"nobody":                 refused("", 401, NoSession, at(OrgA)),
		"an unknown session":     refused("guess", 401, NoSession, at(OrgA)),
		"a member of another":    refused(Stranger, 404, NoSuchOrg, at(OrgA)),
		"before the 2nd factor":  refused(Pending, 403, ProofRequired, at(OrgA)),
		"another organisation":   refused(Owner, 404, NoSuchOrg, at(OrgB)),
		"no organisation":        refused(Owner, 404, NoSuchOrg, at("none")),
		"a page of another site": refused(Owner, 403, OtherSite, from("cross-site")),
		"a page of a neighbour":  refused(Owner, 403, OtherSite, from("same-site")),
	}
	if test := OrgA + "/" + string(org.Test); strings.Contains(e.Path, test) {
		cases["no mode"] = refused(Owner, 404, NoSuchOrg,
			func(e *Exchange) { e.Path = strings.Replace(e.Path, test, OrgA+"/TEST", 1) })
	}
	if e.Method != "" && e.Method != http.MethodGet {
		cases["without the token"] = refused(Owner, 403, NoToken, func(e *Exchange) { e.NoToken = true })
	}
	return cases
}

// modesOf returns the modes in which to test a route. A route whose path contains no mode is tested only once.
func modesOf(route string) []org.Mode {
	if strings.Contains(route, "{mode}") {
		return []org.Mode{org.Test, org.Live}
	}
	return []org.Mode{""}
}

// isRefused reports whether the response's error is an insufficient role rather than one of the endpoint's own errors.
func isRefused(w *httptest.ResponseRecorder) bool {
	return w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), `"error":"svc_forbidden"`)
}
