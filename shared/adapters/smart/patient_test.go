package smart_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

// signIn exchanges a code at the health system's /token endpoint.
func (e *ehr) signIn(t *testing.T) (tokens.Set, error) {
	t.Helper()
	return portal(doer(), time.Now, public{}).Exchange(t.Context(), flow.Grant{Attempt: flow.Attempt{
		Server: flow.Server{TokenEndpoint: e.URL + "/token", FHIRBase: e.URL + "/r4"},
		Client: flow.Client{ClientID: "client"},
	}, Code: secret.New("code")})
}

func TestPatientSearchRequiresSingleResult(t *testing.T) {
	t.Parallel()
	bundle := func(members, entries string) http.HandlerFunc {
		return reply(http.StatusOK, `{"resourceType":"Bundle","type":"searchset"`+members+`,"entry":[`+entries+`]}`)
	}
	const (
		one     = `{"resource":{"resourceType":"Patient","id":"p-1"},"search":{"mode":"match"}}`
		another = `{"resource":{"resourceType":"Patient","id":"p-2"}}`
		outcome = `{"resource":{"resourceType":"OperationOutcome","id":"o"}}`
		warning = `{"resource":{"resourceType":"Patient","id":"w"},"search":{"mode":"outcome"}}`
		doctor  = `{"resource":{"resourceType":"Practitioner","id":"d"},"search":{"mode":"include"}}`
		nobody  = `{"resource":{"resourceType":"Patient","id":"a b"}}`
		vague   = `{"resource":{"id":"p-2"}}`
		next    = `,"link":[{"relation":"self","url":"SELF/r4/Patient"},{"relation":"next","url":"SELF/r4/Patient?page=2"}]`
	)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"one":                    {bundle("", one), "p-1"},
		"one of one":             {bundle(`,"total":1`, one), "p-1"},
		"one among other things": {bundle(`,"total":1`, outcome+","+warning+","+one+","+doctor), "p-1"},
		"two":                    {bundle("", one+","+another), ""},
		"the same one twice":     {bundle("", one+","+one), ""},
		"one of five":            {bundle(`,"total":5`, one), ""},
		"one on the first page":  {bundle(next, one), ""},
		"one beside a riddle":    {bundle("", one+","+vague), ""},
		"none":                   {bundle(`,"total":0`, ""), ""},
		"none but a warning":     {bundle("", outcome), ""},
		"an id of no valid form": {bundle("", nobody), ""},
		"no Bundle":              {reply(http.StatusOK, `{"resourceType":"Patient","id":"p-1"}`), ""},
		"a page":                 {reply(http.StatusOK, "<html></html>"), ""},
		"403":                    {reply(http.StatusForbidden, ""), ""},
		"500":                    {reply(http.StatusInternalServerError, ""), ""},
		"too much":               {bundle("", strings.Repeat(" ", 33<<20)+one), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{
				"/token": reply(http.StatusOK, `{"access_token":"a"}`), "/r4/Patient": test.answer,
			})
			set, err := e.signIn(t)
			if err != nil || set.AccessToken.Reveal() != "a" || set.PatientID.Reveal() != test.want {
				t.Errorf("patient %q, %v; want %q", set.PatientID.Reveal(), err, test.want)
			}
			if asked := e.requests()[1]; asked.Header.Get("Authorization") != "Bearer a" || asked.URL.RawQuery != "" {
				t.Errorf("asked %s with %q", asked.URL, asked.Header.Get("Authorization"))
			}
		})
	}
}

func TestPatientSearchIsSkippedWhenPatientIsKnown(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"/token": reply(http.StatusOK, `{"access_token":"a","patient":"p-1"}`)})
	set, err := e.signIn(t)
	if err != nil || set.PatientID.Reveal() != "p-1" || e.paths() != "/token" {
		t.Errorf("patient %q after %s, %v", set.PatientID.Reveal(), e.paths(), err)
	}
}

func TestPatientSearchRejectsRedirect(t *testing.T) {
	t.Parallel()
	evil := newEHR(t,
		map[string]http.HandlerFunc{"": reply(http.StatusOK,
			`{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient","id":"7"}}]}`)})
	e := newEHR(t, map[string]http.HandlerFunc{
		"/token":      reply(http.StatusOK, `{"access_token":"a"}`),
		"/r4/Patient": reply(http.StatusFound, "", "Location", evil.URL+"/r4/Patient"),
	})
	set, err := e.signIn(t)
	if err != nil || !set.PatientID.Empty() || len(evil.requests()) != 0 {
		t.Errorf("patient %q, %v, %d requests at the other server", set.PatientID.Reveal(), err, len(evil.requests()))
	}
}
