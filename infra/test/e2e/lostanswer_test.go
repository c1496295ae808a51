package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRefreshIsRetriedAfterLostResponse drops the portal's response to a refresh, so the service learns nothing about
// the patient's consent. If the portal still accepts the old refresh token, the connection survives. If the portal has
// replaced the token, the connection ends with rotation_lost.
func TestRefreshIsRetriedAfterLostResponse(t *testing.T) {
	t.Parallel()
	for portal, ended := range map[string]string{
		"rotation:none": "", "rotation:rolling": "",
		"rotation:one-time": "rotation_lost",
	} {
		t.Run(portal, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{})
				id := s.ehr.connectTo(quirk{with: portal}).Get("org_connection_id")
				l, lost := s.ehr.keepLedger(), 0
				s.intercept = func(r *http.Request) *http.Response {
					answer := l.serve(r)
					if answer == nil || lost > 0 {
						return answer
					}
					lost++
					return &http.Response{
						StatusCode: http.StatusBadGateway, Header: http.Header{"Content-Type": {"text/html"}},
						Body: io.NopCloser(strings.NewReader("<h1>Bad Gateway</h1>")), Request: r,
					}
				}
				<-time.After(11 * 24 * time.Hour)
				s.clock.advance(2)
				s.org.checkStatus(id, "authorized")
				if got := s.state.connection(id).number("setbacks"); lost != 1 || got != 1 {
					t.Errorf("%d answers were lost, and the connection counts %d failures", lost, got)
				}
				s.clock.advanceQuarters(2)
				if ended != "" {
					s.check.revoked(id, ended)
					l.checkUses(t, 2)
					return
				}
				s.check.refreshed(t, id)
				s.org.startExport(id)
				s.clock.advance(2)
				s.org.checkDownload(crashPersona)
			})
		})
	}
}
