package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tryConnect is like connect, but allows any step to fail. If a step fails, tryConnect returns an empty access token.
func (p *oauthClient) tryConnect(personaID string) string {
	p.t.Helper()
	location, err := url.Parse(p.authorize("persona", personaID, "decision", "approve").header.Get("Location"))
	if err != nil {
		p.t.Fatal(err)
	}
	var got tokens
	if json.Unmarshal(p.post("/oauth/token", exchangeForm(location.Query().Get("code"))).body, &got) != nil {
		return ""
	}

	return got.Access
}

// fates runs searches with a chaos seed. For each search, it returns a string with the status, whether the body is
// valid JSON, and the duration.
func fates(t *testing.T, seed string) (seen []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		there := newInProcess(t).with(t, "chaos:"+seed)
		access := ""
		for access == "" { // chaos may also cause a step of connect to fail
			access = there.tryConnect("juniper-vale")
		}
		for i := range 40 {
			for range 5 {
				started := time.Now()
				a := there.read(access, fmt.Sprintf("Observation?_count=%d", i+1))
				valid := json.Valid(a.body)
				seen = append(seen, fmt.Sprint(a.status, valid, time.Since(started)))
				if a.status == http.StatusOK && valid {
					break
				}
			}
			if last := seen[len(seen)-1]; last[:8] != "200 true" {
				t.Errorf("request %d never succeeded: %s", i, last)
			}
		}
	})

	return seen
}

func TestChaosIsDeterministicForSeed(t *testing.T) {
	t.Parallel()
	first, again, other := fates(t, "42"), fates(t, "42"), fates(t, "43")
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same seed went otherwise (-first +again):\n%s", diff)
	}
	if cmp.Equal(first, other) {
		t.Error("another seed went the same way")
	}
	kinds := map[string]bool{}
	for _, fate := range append(first, other...) {
		switch {
		case fate[0] == '5':
			kinds["5xx"] = true
		case fate == "200 true 0s":
			kinds["fine"] = true
		case fate == "200 false 0s":
			kinds["broken"] = true
		default:
			kinds["late"] = true
		}
	}
	if len(kinds) != 4 {
		t.Errorf("only %v happened", kinds)
	}
}
