package sandbox_test

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
)

// inProcess is a sandbox without sockets, for tests in a synctest bubble.
type inProcess struct {
	t       *testing.T
	handler http.Handler
	person  string // who signs in
}

const inProcessBase = "http://ehr.example/sandbox"

func newHandler(t *testing.T) inProcess {
	t.Helper()
	handler, err := sandbox.New(sandbox.Deps{
		BaseURL: inProcessBase, Personas: persona.Builtin(),
		Clients: []oauth.Client{{ID: clientID, RedirectURIs: []string{redirectURI}}},
		Store:   memstore.New(), Now: time.Now, Random: rand.Reader, AccessTokenTTL: accessTTL, CodeTTL: codeTTL,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}

	return inProcess{t, handler, "juniper-vale"}
}

func (h inProcess) do(method, path, access, body string) answer {
	h.t.Helper()
	request := httptest.NewRequestWithContext(h.t.Context(), method, inProcessBase+path, strings.NewReader(body))
	if access != "" {
		request.Header.Set("Authorization", "Bearer "+access)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, request)

	return answer{w.Code, w.Header(), w.Body.Bytes()}
}

func (h inProcess) get(path, access string) answer {
	h.t.Helper()

	return h.do(http.MethodGet, path, access, "")
}

// tryConnect connects at the portal with the switches; it returns no access token when that fails.
func (h inProcess) tryConnect(spec string) string {
	h.t.Helper()
	there := &portal{t: h.t, base: inProcessBase + "/with/" + spec, fhir: inProcessBase + "/with/" + spec + "/fhir"}
	query := there.authorizeQuery("persona", h.person, "decision", "approve")
	location, err := url.Parse(h.get("/with/"+spec+"/oauth/authorize?"+query.Encode(), "").header.Get("Location"))
	if err != nil {
		h.t.Fatal(err)
	}
	a := h.do(http.MethodPost, "/with/"+spec+"/oauth/token", "", exchangeForm(location.Query().Get("code")).Encode())
	var got tokens
	if json.Unmarshal(a.body, &got) != nil {
		return ""
	}

	return got.Access
}

// connect is tryConnect that must succeed.
func (h inProcess) connect(spec string) string {
	h.t.Helper()
	access := h.tryConnect(spec)
	if access == "" {
		h.t.Fatalf("%s: no tokens", spec)
	}

	return access
}
