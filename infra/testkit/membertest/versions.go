package membertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/words/fault"
)

// StaleEdit returns the error body for an edit of an outdated version.
func StaleEdit(what string) string {
	return keyedtest.FailureBody("svc_conflict",
		"The "+what+" changed after you loaded it, so nothing was saved. Reload it and repeat your edit.")
}

// CheckVersions checks that edits of an object depend on the version in If-Match. path is the object's path, and edit
// returns the body of an edit that results in a different state for each n. CheckVersions returns the number of saved
// edits.
func CheckVersions(t *testing.T, what, route, path string, h http.Handler, edit func(n int) string) int {
	t.Helper()
	show := func() (tag, body string) {
		w := Exchange{Path: path, As: Owner}.Send(t, route, h)
		var answer struct{ Data struct{ Version string } }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Data.Version == "" ||
			w.Header().Get("ETag") != strconv.Quote(answer.Data.Version) {
			t.Fatalf("ETag %s, %d %s: %v", w.Header().Get("ETag"), w.Code, w.Body, err)
		}
		return w.Header().Get("ETag"), w.Body.String()
	}
	saved := 0
	patch := func(ifMatch string) string {
		saved++
		w := Exchange{Method: http.MethodPatch, Path: path, As: Owner, IfMatch: ifMatch, Body: edit(saved)}.Send(t, route, h)
		if w.Code != http.StatusOK {
			t.Fatalf("If-Match %s: %d %s", ifMatch, w.Code, w.Body)
		}
		return w.Header().Get("ETag")
	}
	first, _ := show()
	second := patch(first)
	if shown, before := show(); shown != second || shown == first {
		t.Errorf("the ETag is %s after %s and an edit that returned %s", shown, first, second)
	} else {
		for _, stale := range []string{first, "W/" + second, `"a", ` + first} {
			e := Exchange{Method: http.MethodPatch, Path: path, As: Owner, IfMatch: stale, Body: edit(99), Status: 409}
			e.Want = StaleEdit(what)
			e.Check(t, route, h)
		}
		if _, after := show(); after != before {
			t.Errorf("a refused edit changed %s to %s", before, after)
		}
	}
	const writers = 5
	won := expect.Winners(t, writers, func(_ context.Context, i int) error {
		e := Exchange{Method: http.MethodPatch, Path: path, As: Owner, IfMatch: second, Body: edit(10 + i)}
		w := e.Send(t, route, h) //nolint:contextcheck // Send uses the test's context
		switch w.Code {
		case http.StatusConflict:
			return fault.Conflict
		case http.StatusOK:
			return nil
		}
		return fmt.Errorf("%d %s", w.Code, w.Body)
	})
	if won != 1 {
		t.Errorf("%d of %d concurrent edits of one version were saved", won, writers)
	}
	patch("")
	patch("*")
	last, _ := show()
	patch(first + ", " + last)
	return saved + won
}
