package smart_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

// initials reads the initials of patient p-1 with tokens of the given scope.
func (e *ehr) initials(t *testing.T, scope string) string {
	t.Helper()
	return portal(doer(), time.Now, public{}).Initials(t.Context(), tokens.Set{
		FHIRBase: e.URL + "/r4", PatientID: secret.New("p-1"), AccessToken: secret.New("a"), Scope: scope,
	})
}

func TestInitialsAreThoseOfNameInUse(t *testing.T) {
	t.Parallel()
	named := func(names string) http.HandlerFunc {
		return reply(http.StatusOK, `{"resourceType":"Patient","id":"p-1","name":[`+names+`]}`)
	}
	const (
		official = `{"use":"official","given":["ana","Lucia"],"family":"Silva"}`
		nickname = `{"use":"nickname","given":["Zaza"]}`
		maiden   = `{"use":"maiden","given":["Ana"],"family":"Zimmer"}`
	)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"official":              {named(official), "A. S."},
		"after other names":     {named(maiden + "," + nickname + "," + official), "A. S."},
		"without a use":         {named(`{"given":["Ana"],"family":"Silva"}`), "A. S."},
		"DSTU2":                 {named(`{"given":["Ana"],"family":["Silva","Reis"]}`), "A. S."},
		"non-Latin":             {named(`{"given":["Ángel"],"family":"Öz"}`), "Á. Ö."},
		"family only":           {named(`{"family":"'t Hooft"}`), "T."},
		"only a nickname":       {named(nickname), ""},
		"only a former name":    {named(maiden), ""},
		"digits":                {named(`{"given":["123"],"family":"<b>"}`), "B."},
		"a name that is a list": {named(`{"given":"Ana","family":"Silva"}`), ""},
		"no name":               {reply(http.StatusOK, `{"resourceType":"Patient","id":"p-1"}`), ""},
		"another patient":       {reply(http.StatusOK, `{"resourceType":"Patient","id":"p-2","name":[`+official+`]}`), ""},
		"an error":              {reply(http.StatusForbidden, `{}`), ""},
		"too large a response":  {named(official + strings.Repeat(" ", 300<<10)), ""},
		"a page":                {reply(http.StatusOK, "<html></html>"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"/r4/Patient/p-1": test.answer})
			if got := e.initials(t, "patient/*.read"); got != test.want {
				t.Errorf("initials %q, want %q", got, test.want)
			}
			if asked := e.requests()[0]; asked.Header.Get("Authorization") != "Bearer a" {
				t.Errorf("asked %s with %q", asked.URL, asked.Header.Get("Authorization"))
			}
		})
	}
}

func TestInitialsAreNotReadWithoutScopeForPatient(t *testing.T) {
	t.Parallel()
	for scope, requests := range map[string]int{
		"patient/Observation.rs": 0, "patient/Patient.s": 0, "patient/Patient.r": 1, "openid": 1, "": 1,
	} {
		e := newEHR(t, map[string]http.HandlerFunc{"/r4/Patient/p-1": reply(http.StatusOK,
			`{"resourceType":"Patient","id":"p-1","name":[{"given":["Ana"]}]}`)})
		if got := e.initials(t, scope); len(e.requests()) != requests || (got == "A.") != (requests == 1) {
			t.Errorf("scope %q: initials %q after %d requests", scope, got, len(e.requests()))
		}
	}
}

func TestInitialsRejectRedirectToOtherServer(t *testing.T) {
	t.Parallel()
	evil := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK,
		`{"resourceType":"Patient","id":"p-1","name":[{"given":["Ana"]}]}`)})
	e := newEHR(t, map[string]http.HandlerFunc{
		"/r4/Patient/p-1": reply(http.StatusFound, "", "Location", evil.URL+"/r4/Patient/p-1"),
	})
	if got := e.initials(t, "patient/*.read"); got != "" || len(evil.requests()) != 0 {
		t.Errorf("initials %q, %d requests at the other server", got, len(evil.requests()))
	}
}
