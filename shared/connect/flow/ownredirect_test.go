package flow_test

import (
	"testing"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/weburl"
)

// TestCompleteShowsPageWhenStoredRedirectPointsToService covers a redirect URL that points to the service itself
// because the service's host changed during the attempt.
func TestCompleteShowsPageWhenStoredRedirectPointsToService(t *testing.T) {
	t.Parallel()
	w := newWorld()
	back := w.start(t, request(t)).back()
	own, err := weburl.NewOwn("https://api.recordbridge.example/v1 https://APP.example:8443/")
	if err != nil {
		t.Fatal(err)
	}
	completer := w.completer(t)
	completer.Own = own
	done, err := completer.Complete(t.Context(), back)
	wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
	if done.Redirect.URI() != "" || done.InWidget || len(done.Result) != 0 {
		t.Errorf("completed with %+v", done)
	}
}
