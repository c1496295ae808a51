package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// The scenarios below cover a connection after its first export: refresh, warning, revocation, reconnection and
// disconnection.

// runKeepAlive checks that unused tokens are refreshed once a week.
func runKeepAlive(s *stack) {
	s.t.Helper()
	id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	for n := range 3 {
		<-time.After(11 * 24 * time.Hour) // the refresh is already overdue when the scheduler first runs
		s.clock.advance(3)
		if got := s.state.tokens(id).number("version"); got != n+2 {
			s.t.Errorf("after %d times 11 days the tokens have version %d, want %d", n+1, got, n+2)
		}
	}
	s.org.checkStatus(id, "authorized")
	next, err := time.Parse(time.RFC3339Nano, s.state.connection(id).text("refresh_at"))
	if err != nil || time.Until(next) < 3*24*time.Hour || time.Until(next) > 11*24*time.Hour {
		s.t.Errorf("the next refresh is at %v: %v", next, err)
	}
	s.org.startExport(id)
	s.clock.advance(2)
	s.org.checkDownload(crashPersona)
}

// runMove moves the portal's token endpoint within the pinned origin. The next scheduled refresh must use the new URL.
func runMove(s *stack) {
	s.t.Helper()
	id := s.ehr.connectTo(quirk{with: "token-moves:1"}).Get("org_connection_id")
	<-time.After(11 * 24 * time.Hour)
	s.clock.advance(3)
	if got := s.state.tokens(id).number("version"); got != 2 {
		s.t.Errorf("the tokens have version %d, want 2", got)
	}
}

// runRevocation withdraws the patient's consent at the portal.
func runRevocation(s *stack) {
	s.t.Helper()
	id := s.ehr.connectTo(quirk{with: "refresh-fails:invalid_grant"}).Get("org_connection_id")
	<-time.After(12 * 24 * time.Hour)
	s.clock.advance(5)
	s.check.revoked(id, "invalid_grant")
}

// runRevocationByExport lets an export discover that consent was withdrawn. The export itself, not the scheduler, must
// revoke the connection, so the clock does not advance between the export and the revocation.
func runRevocationByExport(s *stack) {
	s.t.Helper()
	id := s.ehr.connectTo(quirk{with: "refresh-fails:invalid_grant"}).Get("org_connection_id")
	<-time.After(2 * time.Hour)
	asked := time.Now()
	taskID := s.org.startExport(id)
	s.clock.advance(0)
	if took := time.Since(asked); took > time.Second { // measured in virtual time
		s.t.Errorf("it took %v", took)
	}
	if got := s.state.task(taskID).text("failure_reason"); got != "token_refresh_failure" {
		s.t.Errorf("the export failed because of %q", got)
	}
	s.check.revoked(id, "invalid_grant")
}

// revoked checks that a connection is revoked, that its revocation was reported exactly once, and that its tokens are
// deleted.
func (s checks) revoked(id, cause string) {
	s.t.Helper()
	s.org.checkStatus(id, "revoked")
	if got := s.state.connection(id).text("ended"); got != cause {
		s.t.Errorf("it ended because of %q, want %q", got, cause)
	}
	if s.state.tokens(id)["sealed"] != nil {
		s.t.Error("its tokens are still there")
	}
	told := s.webhooks.events("patient.authorization_revoked")
	if len(told) != 1 || !strings.Contains(told[0].Body, `"org_connection_id":"`+id+`"`) ||
		!strings.Contains(told[0].Body, `"connection_status":"revoked"`) {
		s.t.Errorf("the revocation was told %d times: %v", len(told), told)
	}
	got := s.org.request(
		http.MethodPost,
		"/bridge/fhir/ehi-export",
		map[string]any{"org_connection_id": id, "refresh": true},
	)
	if got.status != http.StatusConflict || got.Error != "svc_connection_not_exportable" {
		s.t.Errorf("an export of it answered %d %s", got.status, got.Error)
	}
}

// runWarning covers the warning before the consent's expiry at a portal that states the expiry time.
func runWarning(s *stack) {
	s.t.Helper()
	s.org.subscribe(webhook.AuthorizationEnding)
	result := s.ehr.connectTo(quirk{with: "tell-expiry:authorization_expires_in,refresh:240h"})
	id := result.Get("org_connection_id")
	ends, err := time.Parse(time.RFC3339, result.Get("consent_expires_at"))
	if err != nil || time.Until(ends).Round(time.Hour) != 240*time.Hour {
		s.t.Fatalf("consent ends at %q: %v", result.Get("consent_expires_at"), result)
	}
	<-time.After(72*time.Hour - time.Minute)
	s.clock.advance(1)
	if told := s.webhooks.events("patient.authorization_expiring"); len(told) != 0 && time.Until(ends) > 7*24*time.Hour {
		s.t.Errorf("told too early: %v", told)
	}
	s.clock.advance(5)
	told := s.webhooks.events("patient.authorization_expiring")
	if len(told) != 1 || !strings.Contains(told[0].Body, id) || !strings.Contains(told[0].Body, `"suggested_action"`) {
		s.t.Errorf("the coming end was told %d times: %v", len(told), told)
	}
}

// runReconnect reconnects the same patient and checks that a different patient is rejected.
func runReconnect(s *stack) {
	s.t.Helper()
	s.org.subscribe(webhook.ConnectionFailed)
	id := s.ehr.connectTo(quirk{with: "refresh-fails:invalid_grant,fails-first:1"}).Get("org_connection_id")
	<-time.After(12 * 24 * time.Hour)
	s.clock.advance(5)
	s.check.revoked(id, "invalid_grant")

	stranger := s.patient.reconnect(id, "linden-moss")
	if stranger.Get("error") != "svc_invalid_request" || stranger.Get("org_connection_id") != "" {
		s.t.Errorf("another patient came back with %v", stranger)
	}
	s.org.checkStatus(id, "revoked")
	s.clock.advance(1)
	failed := s.webhooks.events("patient.connection_failed")
	if len(failed) != 1 || !strings.Contains(failed[0].Body, `"cause":"wrong_patient"`) {
		s.t.Errorf("the failure was told %d times: %v", len(failed), failed)
	}

	back := s.patient.reconnect(id, crashPersona)
	if back.Get("org_connection_id") != id || back.Get("connection_status") != "authorized" {
		s.t.Fatalf("the patient came back with %v", back)
	}
	s.org.checkStatus(id, "authorized")
	s.org.startExport(id)
	s.clock.advance(2)
	s.org.checkDownload(crashPersona)
	if told := s.webhooks.events("patient.connection_success"); len(told) != 2 {
		s.t.Errorf("the connection was told %d times, want 2", len(told))
	}
}

// runDisconnect disconnects a patient during an export, while an earlier export's file still exists.
func runDisconnect(s *stack) {
	s.t.Helper()
	id := s.org.disconnect()
	if s.state.tokens(id)["sealed"] != nil {
		s.t.Error("the tokens are still in reach")
	}
	s.clock.advance(5)
	if got := s.state.objects(); len(got) != 0 {
		s.t.Errorf("the bucket still holds %v", got)
	}
	if failed := s.webhooks.events("patient.ehi_export_failed"); len(failed) != 1 {
		s.t.Errorf("%d exports failed, want the pending one", len(failed))
	}
	if left := s.state.get("test-TokensTable", s.tenant()+"#UPSTREAM#"+id, "META"); len(left) != 0 {
		s.t.Error("what the portal was to revoke is still there")
	}
	if got := s.state.connection(id); got.text("ended") != "disconnected" || got.text("upstream_until") != "" {
		s.t.Errorf("the connection ended as %q, upstream until %q", got.text("ended"), got.text("upstream_until"))
	}
	if told := s.webhooks.events("patient.authorization_revoked"); len(told) != 0 {
		s.t.Errorf("the organisation was told what it did itself: %v", told)
	}
}

// runWidget creates an attempt as the widget page would, opens its window and polls its status.
func runWidget(s *outside) {
	s.t.Helper()
	made := s.patient.makeAttempt(map[string]string{
		"endpoint_id": s.seeded.Sandbox.EndpointID, "external_id": "patient-7", "external_state": "state-9",
	})
	if got := s.patient.watchAttempt(made).Status; got != "created" {
		s.t.Errorf("the attempt is %q", got)
	}
	elsewhere := s.patient.browser()
	elsewhere.header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	if answer := elsewhere.start(made.form()); answer.status != http.StatusBadRequest {
		s.t.Errorf("another site's page starts it: %d", answer.status)
	}
	if answer := s.patient.openWindow(made); answer.status != http.StatusOK {
		s.t.Fatalf("the window ended with %d: %s", answer.status, answer.body)
	}
	done := s.patient.watchAttempt(made)
	if done.Status != "done" || done.Result.ConnectionStatus != "authorized" || done.Result.ExternalState != "state-9" {
		s.t.Errorf("the attempt is %+v", done)
	}
	guessed := made
	guessed.Token = "guessed"
	if got := s.patient.watchAttempt(guessed).Status; got != "" {
		s.t.Errorf("a guessed token reads %q", got)
	}
	if again := s.patient.openWindow(made); again.status != http.StatusBadRequest {
		s.t.Errorf("the start value works twice: %d", again.status)
	}
	again := s.patient.makeAttempt(map[string]string{"reconnect_org_connection_id": done.Result.ConnectionID})
	if answer := s.patient.openWindow(again); answer.status != http.StatusOK {
		s.t.Errorf("reconnecting ended with %d: %s", answer.status, answer.body)
	}
	if got := s.patient.watchAttempt(again); got.Status != "done" || got.Result.ConnectionID != done.Result.ConnectionID {
		s.t.Errorf("the second attempt is %+v", got)
	}
	declined := s.patient.makeAttempt(
		map[string]string{"endpoint_id": s.seeded.Sandbox.EndpointID, "external_state": "state-10"},
	)
	s.patient.browser().leave(declined.form(), crashPersona, "deny")
	if got := s.patient.watchAttempt(declined); got.Status != "failed" {
		s.t.Errorf("an attempt that the patient declined is %+v", got)
	}
}

// attempt holds a page's data about an attempt.
type attempt struct {
	ID    string `json:"attempt_id"`
	Token string `json:"attempt_token"`
	URL   string `json:"connect_url"`
	Start string `json:"start_value"`
}

func (a attempt) form() startForm { return startForm{url: a.URL, value: a.Start} }

func (o browsing) makeAttempt(body map[string]string) attempt {
	o.t.Helper()
	made := o.call(http.MethodPost, "/bridge/attempts?public_id="+url.QueryEscape(o.seeded.Organisations[0].PublicID),
		"", "", body)
	if made.status != http.StatusOK {
		o.t.Fatalf("making an attempt answered %d %s", made.status, made.raw)
	}
	var of attempt
	expect.NoError(o.t, json.Unmarshal(made.Data, &of))
	return of
}

// openWindow completes the sign-in in a new browser, and returns the window's last page.
func (o browsing) openWindow(of attempt) *visited {
	o.t.Helper()
	answer, last := o.patient.browser().leave(of.form(), crashPersona, "approve")
	if answer == nil {
		o.t.Fatalf("the window ended at %v", last)
	}
	return answer
}

// watched is an attempt's status.
type watched struct {
	Status string `json:"status"`
	Result struct {
		ConnectionID     string `json:"org_connection_id"`
		ConnectionStatus string `json:"connection_status"`
		ExternalState    string `json:"external_state"`
		ConsentEnds      string `json:"consent_expires_at"`
	} `json:"result"`
}

func (o browsing) watchAttempt(of attempt) watched {
	o.t.Helper()
	_, got := o.patient.readAttempt(of, o.seeded.Organisations[0].PublicID)
	return got
}

func (o browsing) readAttempt(of attempt, publicID string) (status int, got watched) {
	o.t.Helper()
	answered := o.patient.requestAttempt(of, publicID)
	if len(answered.Data) > 0 {
		expect.NoError(o.t, json.Unmarshal(answered.Data, &got))
	}
	return answered.status, got
}

// runConfidential covers sign-in, refresh and revocation with every authentication method of confidential clients.
func runConfidential(s *stack) {
	s.t.Helper()
	const password = "s3cret._=-"
	keys := base64.RawURLEncoding.EncodeToString(s.call(http.MethodGet, "/.well-known/jwks.json", "", "", nil).raw)
	for name, c := range map[string]struct {
		auth catalog.ClientAuth
		with string
	}{
		"basic": {
			catalog.ClientAuth{Method: catalog.AuthSecretBasic, Origins: []string{host}},
			"client-auth:client_secret_basic,client-secret:" + password,
		},
		"post": {
			catalog.ClientAuth{Method: catalog.AuthSecretPost, Origins: []string{host}},
			"client-auth:client_secret_post,client-secret:" + password,
		},
		"RS384": {
			catalog.ClientAuth{Method: catalog.AuthPrivateKey, Algorithm: "RS384"},
			"client-auth:private_key_jwt,jwks:" + keys,
		},
		"ES384": {
			catalog.ClientAuth{Method: catalog.AuthPrivateKey, Algorithm: "ES384"},
			"client-auth:private_key_jwt,jwks:" + keys,
		},
	} {
		plain := secret.Text{}
		if c.auth.Method != catalog.AuthPrivateKey {
			plain = secret.New(password)
		}
		authID, err := s.operator.Clients.Create(s.t.Context(), org.Tenant{}, c.auth, plain)
		expect.NoError(s.t, err)
		result := s.ehr.connectTo(quirk{with: "label:" + strings.ToLower(name) + "," + c.with, authID: authID})
		id := result.Get("org_connection_id")
		if id == "" {
			s.t.Fatalf("%s: not connected: %v", name, result)
		}
		<-time.After(2 * time.Hour)
		taskID := s.org.startExport(id)
		s.clock.advance(3)
		if got := s.state.task(taskID); got.text("status") != "success" {
			s.t.Errorf("%s: the export is %s because of %q", name, got.text("status"), got.text("failure_reason"))
		}
		if got := s.org.request(http.MethodDelete, "/bridge/org_connection/"+id, nil); got.status != http.StatusOK {
			s.t.Errorf("%s: DELETE answered %d", name, got.status)
		}
		s.clock.advance(3)
		if got := s.state.connection(id).text("upstream_until"); got != "" {
			s.t.Errorf("%s: the portal was not reached", name)
		}
	}
}

func (s ehr) connectTo(q quirk) url.Values {
	s.t.Helper()
	answer, last := s.patient.browser().open(s.ehr.connectURLOf(q), crashPersona, "approve")
	if answer != nil {
		s.t.Fatalf("the browser ended at %s with %d: %s", last.Path, answer.status, answer.body)
	}
	return last.Query()
}

func (o browsing) reconnect(id, persona string) url.Values {
	o.t.Helper()
	answer, last := o.patient.browser().open(o.patient.reconnectURL(id), persona, "approve")
	if answer != nil {
		o.t.Fatalf("the browser ended at %s with %d", last.Path, answer.status)
	}
	return last.Query()
}

func (s state) connection(id string) row {
	return s.state.get("test-ConnectionTable", s.tenant()+"#CONN#"+id, "META")
}

func (s state) tokens(id string) row {
	return s.state.get("test-TokensTable", s.tenant()+"#CONN#"+id, "TOKENS")
}

func (s state) task(id string) row {
	return s.state.get("test-WorkTable", s.tenant()+"#TASK#"+id, "META")
}

func (o organisation) checkStatus(connectionID, want string) {
	o.t.Helper()
	got := o.org.request(http.MethodGet, "/bridge/org_connection/"+connectionID, nil)
	if got.status != http.StatusOK || !strings.Contains(string(got.Data), `"status":"`+want+`"`) {
		o.t.Errorf("GET the connection answered %d %s, want it %s", got.status, got.Data, want)
	}
}
