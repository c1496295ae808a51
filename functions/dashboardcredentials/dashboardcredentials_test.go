package dashboardcredentials_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"recordbridge/functions/dashboardcredentials"
	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	listRoute = "/dashboard/organisations/{orgId}/{mode}/credentials"
	oneRoute  = listRoute + "/{publicId}"
	keysRoute = oneRoute + "/keys"
	keyRoute  = keysRoute + "/{keyId}"
	listPath  = "/dashboard/organisations/" + membertest.OrgA + "/test/credentials"
	redirect  = "https://app.example/return"
)

func handler(s *managed.Stack) http.Handler {
	return dashboardcredentials.New(
		dashboardcredentials.Deps{API: keyedtest.NewAPI(), Auth: membertest.Auth(), Credentials: s.Operator.Credentials},
	)
}

func made(t *testing.T, s *managed.Stack, tenant org.Tenant) (org.Credential, secret.Text) {
	t.Helper()
	c, private, err := s.Operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: tenant, Redirects: []string{redirect}})
	if err != nil {
		t.Fatal(err)
	}
	return c, private
}

func data[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var answer struct{ Data T }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return answer.Data
}

type shown struct {
	PublicID       string   `json:"public_id"`
	Note           string   `json:"note"`
	RedirectURIs   []string `json:"redirect_uris"`
	AllowedOrigins []string `json:"allowed_origins"`
	Keys           []struct {
		KeyID      string `json:"key_id"`
		RevokedAt  string `json:"revoked_at"`
		LastUsedAt string `json:"last_used_at"`
	} `json:"keys"`
}

type created struct {
	Credential shown  `json:"credential"`
	KeyID      string `json:"key_id"`
	PrivateKey string `json:"private_key"`
}

func TestCredentialCanBeCreatedChangedAndRevoked(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	send := func(method, route, path, body string) *httptest.ResponseRecorder {
		return membertest.Exchange{Method: method, Path: path, As: membertest.Developer, Body: body}.Send(t, route, h)
	}
	first := data[created](t, send("POST", listRoute, listPath, `{"note":"web","redirect_uris":["`+redirect+`"]}`))
	path := listPath + "/" + first.Credential.PublicID
	keys := org.NewAuthenticator(store.NewDirectory(s.Control()), ring(t, s), keyedtest.Moment)
	if caller, err := keys.Authenticate(t.Context(), first.Credential.PublicID,
		secret.New(first.PrivateKey)); err != nil || caller.Tenant != managed.Tenant(membertest.OrgA, org.Test) {
		t.Errorf("the key is %+v's: %v", caller, err)
	}
	second := data[created](t, send("POST", keysRoute, path+"/keys", ""))
	if got := send("POST", keysRoute, path+"/keys", ""); got.Code != http.StatusConflict {
		t.Errorf("a third key: %d %s", got.Code, got.Body)
	}
	after := data[shown](t, send("PATCH", oneRoute, path,
		`{"note":"app","redirect_uris":["https://b.example/"],"allowed_origins":["https://b.example"]}`))
	if after.Note != "app" || !slices.Equal(after.RedirectURIs, []string{"https://b.example/"}) ||
		!slices.Equal(after.AllowedOrigins, []string{"https://b.example"}) || len(after.Keys) != 2 {
		t.Errorf("changed to %+v", after)
	}
	after = data[shown](t, send("PATCH", oneRoute, path, `{"allowed_origins":[]}`))
	if after.Note != "app" || len(after.RedirectURIs) != 1 || len(after.AllowedOrigins) != 0 {
		t.Errorf("without origins it is %+v", after)
	}
	if got := send("DELETE", oneRoute, path, ""); got.Code != http.StatusConflict {
		t.Errorf("with live keys it can be removed: %d", got.Code)
	}
	if got := send("DELETE", keyRoute, path+"/keys/"+second.KeyID, ""); got.Code != http.StatusOK {
		t.Errorf("revoke: %d %s", got.Code, got.Body)
	}
	list := data[struct{ Credentials []shown }](t, send("GET", listRoute, listPath, ""))
	if len(list.Credentials) != 1 || list.Credentials[0].Keys[0].RevokedAt != "" ||
		list.Credentials[0].Keys[1].RevokedAt == "" {
		t.Errorf("the list is %+v, want the second key revoked and not the first", list)
	}
	for _, got := range []*httptest.ResponseRecorder{
		send("DELETE", keyRoute, path+"/keys/"+first.KeyID, ""), send("DELETE", oneRoute, path, ""),
	} {
		if got.Code != http.StatusOK {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
	by, id := account.Actor(membertest.AccountOf(membertest.Developer)),
		strings.TrimPrefix(first.Credential.PublicID, "public_test_")
	want := []string{
		by + " credential.created " + id, by + " key.created " + second.KeyID, by + " credential.changed " + id,
		by + " credential.changed " + id,
		by + " key.revoked " + id, by + " key.revoked " + id, by + " credential.removed " + id,
	}
	if got := s.Audited(t, membertest.OrgA); !slices.Equal(got, want) {
		t.Errorf("audited %q, want %q", got, want)
	}
}

func TestChangeCredentialRejectsOutdatedVersion(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	c, _ := made(t, s, managed.Tenant(membertest.OrgA, org.Test))
	saved := membertest.CheckVersions(t, "credential", oneRoute, listPath+"/"+c.PublicID(), h, func(n int) string {
		return fmt.Sprintf(`{"redirect_uris":["https://%d.example/"],"allowed_origins":["https://%d.example"]}`, n, n)
	})
	if got := s.Audited(t, membertest.OrgA); len(got) != 1+saved {
		t.Errorf("%d edits were saved, but audited %q", saved, got)
	}
}

func TestCredentialVersionIgnoresKeys(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	c, _ := made(t, s, managed.Tenant(membertest.OrgA, org.Test))
	if _, _, err := s.Operator.Credentials.AddKey(t.Context(), c.PublicID()); err != nil {
		t.Fatal(err)
	}
	w := membertest.Exchange{
		Method: "PATCH", Path: listPath + "/" + c.PublicID(), As: membertest.Developer, IfMatch: `"` + c.Version() + `"`,
		Body: `{"note":"app"}`,
	}.Send(t, oneRoute, handler(s))
	if got := data[shown](t, w); got.Note != "app" || len(got.Keys) != 2 {
		t.Errorf("changed to %+v", got)
	}
}

func TestPrivateKeyIsReturnedOnlyOnCreation(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	c, private := made(t, s, managed.Tenant(membertest.OrgA, org.Test))
	for route, path := range map[string]string{listRoute: listPath, oneRoute: listPath + "/" + c.PublicID()} {
		got := membertest.Exchange{Path: path, As: membertest.Owner}.Send(t, route, handler(s)).Body.String()
		if !strings.Contains(got, c.PublicID()) || strings.Contains(got, private.Reveal()[13:]) ||
			strings.Contains(strings.ToLower(got), "hash") {
			t.Errorf("%s answers %s", route, got)
		}
	}
}

func TestKeyLastUseIsRoundedToHour(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	tenant := managed.Tenant(membertest.OrgA, org.Test)
	c, _ := made(t, s, tenant)
	if err := store.Callers(s.Control()).UseKey(t.Context(), tenant, c.Keys[0].ID, keyedtest.Moment()); err != nil {
		t.Fatal(err)
	}
	got := data[shown](t, membertest.Exchange{Path: listPath + "/" + c.PublicID(), As: membertest.Viewer}.Send(t,
		oneRoute, handler(s)))
	if got.Keys[0].LastUsedAt != "2026-03-04T05:06:07Z" {
		t.Errorf("it was used %q", got.Keys[0].LastUsedAt)
	}
}

func TestCredentialsAreHiddenFromOtherTenants(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	for name, tenant := range map[string]org.Tenant{
		"another organisation": managed.Tenant(membertest.OrgB, org.Test),
		"the other mode":       managed.Tenant(membertest.OrgA, org.Live),
	} {
		c, _ := made(t, s, tenant)
		id := strings.Replace(c.PublicID(), "public_live_", "", 1)
		for _, e := range []struct{ method, route, path, body string }{
			{"GET", oneRoute, "", ""},
			{"PATCH", oneRoute, "", `{"note":"x"}`},
			{"DELETE", oneRoute, "", ""},
			{"POST", keysRoute, "/keys", ""},
			{"DELETE", keyRoute, "/keys/" + c.Keys[0].ID, ""},
		} {
			t.Run(name+" "+e.method+e.path, func(t *testing.T) {
				t.Parallel()
				got := membertest.Exchange{
					Method: e.method, Path: listPath + "/" + id + e.path, As: membertest.Owner,
					Body: e.body,
				}.Send(t, e.route, handler(s))
				if got.Code != http.StatusNotFound || strings.Contains(got.Body.String(), tenant.OrgID) &&
					tenant.OrgID != membertest.OrgA {
					t.Errorf("%d %s", got.Code, got.Body)
				}
			})
		}
	}
	got := membertest.Exchange{Path: listPath, As: membertest.Owner}
	got.Status, got.Want = 200, `{"success":true,"data":{"credentials":[]}}`
	got.Check(t, listRoute, handler(s))
}

func TestCredentialsRequirePermission(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	c, _ := made(t, s, managed.Tenant(membertest.OrgA, org.Test))
	path := listPath + "/" + c.PublicID()
	newHandler := func() http.Handler { return handler(s) }
	for _, e := range []struct {
		method, route, path, body string
		needed                    account.Permission
	}{
		{"GET", listRoute, listPath, "", account.View},
		{"POST", listRoute, listPath, `{"redirect_uris":[]}`, account.Develop},
		{"GET", oneRoute, path, "", account.View},
		{"PATCH", oneRoute, path, `{"note":"x"}`, account.Develop},
		{"DELETE", oneRoute, path, "", account.Develop},
		{"POST", keysRoute, path + "/keys", "", account.Develop},
		{"DELETE", keyRoute, path + "/keys/x", "", account.Develop},
	} {
		t.Run(e.method+" "+e.route, func(t *testing.T) {
			t.Parallel()
			membertest.CheckMember(t, e.route, membertest.Exchange{
				Method: e.method, Path: e.path, As: membertest.Owner,
				Body: e.body,
			}, e.needed, newHandler)
		})
	}
}

func ring(t *testing.T, s *managed.Stack) secret.Keyring {
	t.Helper()
	keys, err := s.Hashing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
