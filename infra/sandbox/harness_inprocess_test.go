package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"recordbridge/infra/sandbox"
)

// inProcess hands a client's requests to a handler, without sockets.
type inProcess struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody // as a server has it
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	return w.Result(), nil
}

// newInProcess is newPortal without sockets and by the real time, for tests in a synctest bubble.
func newInProcess(t *testing.T) *portal {
	t.Helper()
	deps := usual("http://ehr.example/sandbox", time.Now)
	handler, err := sandbox.New(deps)
	if err != nil {
		t.Fatal(err)
	}

	return &portal{oauthClient{wire{
		t: t, base: deps.BaseURL, fhir: deps.BaseURL + "/fhir",
		client: &http.Client{Transport: inProcess{handler}, CheckRedirect: stay},
	}}}
}
