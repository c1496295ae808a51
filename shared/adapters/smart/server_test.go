package smart_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/secret"
)

func doer() smart.Doer {
	return safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

// ehr is a minimal health system that records its requests.
type ehr struct {
	*httptest.Server

	mu   sync.Mutex
	seen []*http.Request
}

// newEHR starts a health system. answers maps paths to handlers. The handler for "" serves all other paths.
func newEHR(t *testing.T, answers map[string]http.HandlerFunc) *ehr {
	t.Helper()
	e := &ehr{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		e.mu.Lock()
		e.seen = append(e.seen, r)
		e.mu.Unlock()
		answer, ok := answers[r.URL.Path]
		if !ok {
			answer, ok = answers[""]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		answer(w, r)
	}))
	e.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	e.Start()
	t.Cleanup(e.Close)
	return e
}

func (e *ehr) requests() []*http.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.seen)
}

// reply responds with status and body, replacing SELF in the body with the server's URL.
func reply(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		self := strings.NewReplacer("SELF", "http://"+r.Host)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], self.Replace(header[i+1]))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, self.Replace(body))
	}
}

const accessToken = "access-token-of-alder-maple"

func bearer(context.Context) (secret.Text, error) { return secret.New(accessToken), nil }

func reader(t *testing.T, base string) source.Server {
	t.Helper()
	return readerOf(t, doer(), base, plan.Profile{}, bearer)
}

// readerOf returns a reader of the server at base, as Portal.Open creates it.
func readerOf(t *testing.T, doer smart.Doer, base string, profile plan.Profile,
	token func(context.Context) (secret.Text, error),
) source.Server {
	t.Helper()
	source, err := portal(doer, time.Now, public{}).Open(base, profile, token)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// wantFailure checks that err is a failed request of the given class, and that its message reveals no details.
func wantFailure(t *testing.T, err error, class fhir.Class) fhir.RequestError {
	t.Helper()
	failure, ok := errors.AsType[*fhir.RequestError](err)
	if !ok || failure.Class != class {
		t.Fatalf("got %v, want class %s", err, class)
	}
	for _, private := range []string{"127.0.0.1", "http:", "maple", "Patient", accessToken} {
		if strings.Contains(err.Error(), private) {
			t.Errorf("the error names %q: %v", private, err)
		}
	}
	return *failure
}

func query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return values
}
