package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
)

// ledger records the token requests sent to the portals and the tokens that the portals issue.
type ledger struct {
	stack *stack

	mu      sync.Mutex
	grants  int                    // number of authorization codes exchanged
	refused int                    // number of authorization codes rejected
	grantOf map[string]int         // number of the grant for which each refresh token was issued, starting at 1
	shown   map[string][]time.Time // times at which each refresh token was sent
	latest  string                 // last refresh token used
	newest  string                 // last refresh token issued in exchange for a code
	revoked map[string]int         // number of revocation requests for each token
}

func (s ehr) keepLedger() *ledger {
	l := &ledger{stack: s.stack, grantOf: map[string]int{}, shown: map[string][]time.Time{}, revoked: map[string]int{}}
	s.intercept = l.serve
	return l
}

func (l *ledger) serve(r *http.Request) *http.Response {
	if !isTokenRequest(r) && !strings.HasSuffix(r.URL.Path, "/oauth/revoke") {
		return nil
	}
	form, answer := l.stack.ehr.passOn(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	var given struct {
		RefreshToken string `json:"refresh_token"`
	}
	_ = json.Unmarshal(answer.Body.Bytes(), &given) // an HTML page never contains tokens
	switch form.Get("grant_type") {
	case "authorization_code":
		if answer.Code == http.StatusOK {
			l.grants++
			l.grantOf[given.RefreshToken], l.newest = l.grants, given.RefreshToken
		} else {
			l.refused++
		}
	case "refresh_token":
		used := form.Get("refresh_token")
		l.shown[used], l.latest = append(l.shown[used], time.Now()), used
		if given.RefreshToken != "" {
			l.grantOf[given.RefreshToken] = l.grantOf[used]
		}
	default:
		l.revoked[form.Get("token")]++
	}
	return answer.Result()
}

// passOn forwards a request to the portal and returns the request's form and the portal's response.
func (s ehr) passOn(r *http.Request) (url.Values, *httptest.ResponseRecorder) {
	body, err := io.ReadAll(r.Body)
	expect.NoError(s.t, err)
	form, err := url.ParseQuery(string(body))
	expect.NoError(s.t, err)
	in := httptest.NewRequest(r.Method, r.URL.RequestURI(), bytes.NewReader(body)).WithContext(r.Context())
	in.Header, in.Host, in.RemoteAddr = r.Header.Clone(), r.URL.Host, "127.0.0.1:40000"
	answer := httptest.NewRecorder()
	s.gateway.ServeHTTP(answer, in)
	return form, answer
}

func isTokenRequest(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/sandbox/") && strings.HasSuffix(r.URL.Path, "/oauth/token")
}

func (l *ledger) refreshes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, times := range l.shown {
		n += len(times)
	}
	return n
}

// checkUses checks that no refresh token was used more than most times. A refresh token may be used a second time only
// if a crash interrupted its first use.
func (l *ledger) checkUses(t *testing.T, most int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, times := range l.shown {
		if len(times) > most {
			t.Errorf("a refresh token was used %d times, want at most %d", len(times), most)
		}
	}
}

// checkLatest checks that the most recently used refresh token belongs to the latest grant.
func (l *ledger) checkLatest(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if got := l.grantOf[l.latest]; got != l.grants {
		t.Errorf("the refresh token that was used last is of grant %d of %d", got, l.grants)
	}
}
