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

// The scenarios of a connection's life after it was made: kept alive, warned about, revoked, reconnected, disconnected.

// runKeepAlive: tokens that nobody asks for are refreshed once a week.
func runKeepAlive(s *stack) {
	s.t.Helper()
	id := s.connect(crashPersona, "approve").Get("org_connection_id")
	for n := range 3 {
		<-time.After(11 * 24 * time.Hour) // a week and a half at most, and the scheduler looks only then
		s.letPass(3)
		if got := s.tokens(id).number("version"); got != n+2 {
			s.t.Errorf("after %d times 11 days the tokens have version %d, want %d", n+1, got, n+2)
		}
	}
	s.checkStatus(id, "authorized")
	next, err := time.Parse(time.RFC3339Nano, s.connection(id).text("refresh_at"))
	if err != nil || time.Until(next) < 3*24*time.Hour || time.Until(next) > 11*24*time.Hour {
		s.t.Errorf("the next refresh is at %v: %v", next, err)
	}
	s.startExport(id)
	s.letPass(2)
	s.checkDownload(crashPersona)
}

// runMove: the portal's token endpoint moves within the origin that is pinned, and a scheduled refresh follows it.
func runMove(s *stack) {
	s.t.Helper()
	id := s.connectTo(quirk{with: "token-moves:1"}).Get("org_connection_id")
	<-time.After(11 * 24 * time.Hour)
	s.letPass(3)
	if got := s.tokens(id).number("version"); got != 2 {
		s.t.Errorf("the tokens have version %d, want 2", got)
	}
}

// runRevocation: consent was withdrawn at the portal.
func runRevocation(s *stack) {
	s.t.Helper()
	id := s.connectTo(quirk{with: "refresh-fails:invalid_grant"}).Get("org_connection_id")
	<-time.After(12 * 24 * time.Hour)
	s.letPass(5)
	s.checkRevoked(id, "invalid_grant")
}

// runRevocationByExport: an export finds out that consent was withdrawn. That is judged at once, without
// waiting for the scheduler: no time passes between the export and the revocation but what the answers take,
// and here they take none.
func runRevocationByExport(s *stack) {
	s.t.Helper()
	id := s.connectTo(quirk{with: "refresh-fails:invalid_grant"}).Get("org_connection_id")
	<-time.After(2 * time.Hour)
	asked := time.Now()
	taskID := s.startExport(id)
	s.letPass(0)
	if took := time.Since(asked); took > time.Second { // virtual
		s.t.Errorf("it took %v", took)
	}
	if got := s.task(taskID).text("failure_reason"); got != "token_refresh_failure" {
		s.t.Errorf("the export failed because of %q", got)
	}
	s.checkRevoked(id, "invalid_grant")
}

// checkRevoked: the connection is revoked, which was told once, and its tokens are gone.
func (s *stack) checkRevoked(id, cause string) {
	s.t.Helper()
	s.checkStatus(id, "revoked")
	if got := s.connection(id).text("ended"); got != cause {
		s.t.Errorf("it ended because of %q, want %q", got, cause)
	}
	if s.tokens(id)["sealed"] != nil {
		s.t.Error("its tokens are still there")
	}
	told := s.events("patient.authorization_revoked")
	if len(told) != 1 || !strings.Contains(told[0].Body, `"org_connection_id":"`+id+`"`) ||
		!strings.Contains(told[0].Body, `"connection_status":"revoked"`) {
		s.t.Errorf("the revocation was told %d times: %v", len(told), told)
	}
	got := s.asOwner(http.MethodPost, "/bridge/fhir/ehi-export", map[string]any{"org_connection_id": id, "refresh": true})
	if got.status != http.StatusConflict || got.Error != "svc_connection_not_exportable" {
		s.t.Errorf("an export of it answered %d %s", got.status, got.Error)
	}
}

// runWarning: consent ends in days, and the portal has said when.
func runWarning(s *stack) {
	s.t.Helper()
	s.subscribe(webhook.AuthorizationEnding)
	result := s.connectTo(quirk{with: "tell-expiry:authorization_expires_in,refresh:240h"})
	id := result.Get("org_connection_id")
	ends, err := time.Parse(time.RFC3339, result.Get("consent_expires_at"))
	if err != nil || time.Until(ends).Round(time.Hour) != 240*time.Hour {
		s.t.Fatalf("consent ends at %q: %v", result.Get("consent_expires_at"), result)
	}
	<-time.After(72*time.Hour - time.Minute)
	s.letPass(1)
	if told := s.events("patient.authorization_expiring"); len(told) != 0 && time.Until(ends) > 7*24*time.Hour {
		s.t.Errorf("told too early: %v", told)
	}
	s.letPass(5)
	told := s.events("patient.authorization_expiring")
	if len(told) != 1 || !strings.Contains(told[0].Body, id) || !strings.Contains(told[0].Body, `"suggested_action"`) {
		s.t.Errorf("the coming end was told %d times: %v", len(told), told)
	}
}

// runReconnect: the same patient comes back, another one does not get in.
func runReconnect(s *stack) {
	s.t.Helper()
	s.subscribe(webhook.ConnectionFailed)
	id := s.connectTo(quirk{with: "refresh-fails:invalid_grant,fails-first:1"}).Get("org_connection_id")
	<-time.After(12 * 24 * time.Hour)
	s.letPass(5)
	s.checkRevoked(id, "invalid_grant")

	stranger := s.reconnect(id, "linden-moss")
	if stranger.Get("error") != "svc_invalid_request" || stranger.Get("org_connection_id") != "" {
		s.t.Errorf("another patient came back with %v", stranger)
	}
	s.checkStatus(id, "revoked")
	s.letPass(1)
	failed := s.events("patient.connection_failed")
	if len(failed) != 1 || !strings.Contains(failed[0].Body, `"cause":"wrong_patient"`) {
		s.t.Errorf("the failure was told %d times: %v", len(failed), failed)
	}

	back := s.reconnect(id, crashPersona)
	if back.Get("org_connection_id") != id || back.Get("connection_status") != "authorized" {
		s.t.Fatalf("the patient came back with %v", back)
	}
	s.checkStatus(id, "authorized")
	s.startExport(id)
	s.letPass(2)
	s.checkDownload(crashPersona)
	if told := s.events("patient.connection_success"); len(told) != 2 {
		s.t.Errorf("the connection was told %d times, want 2", len(told))
	}
}

// runDisconnect: the organisation ends a connection in the middle of an export, with the file of an earlier one there.
func runDisconnect(s *stack) {
	s.t.Helper()
	id := s.disconnect()
	if s.tokens(id)["sealed"] != nil {
		s.t.Error("the tokens are still in reach")
	}
	s.letPass(5)
	if got := s.objects(); len(got) != 0 {
		s.t.Errorf("the bucket still holds %v", got)
	}
	if failed := s.events("patient.ehi_export_failed"); len(failed) != 1 {
		s.t.Errorf("%d exports failed, want the pending one", len(failed))
	}
	if left := s.get("test-TokensTable", s.tenant()+"#UPSTREAM#"+id, "META"); len(left) != 0 {
		s.t.Error("what the portal was to revoke is still there")
	}
	if got := s.connection(id); got.text("ended") != "disconnected" || got.text("upstream_until") != "" {
		s.t.Errorf("the connection ended as %q, upstream until %q", got.text("ended"), got.text("upstream_until"))
	}
	if told := s.events("patient.authorization_revoked"); len(told) != 0 {
		s.t.Errorf("the organisation was told what it did itself: %v", told)
	}
}

// runWidget: a page of ours makes the attempt, opens its window and asks how it went.
func runWidget(s *outside) {
	s.t.Helper()
	made := s.makeAttempt(map[string]string{
		"endpoint_id": s.seeded.Sandbox.EndpointID, "external_id": "patient-7", "external_state": "state-9",
	})
	if got := s.watchAttempt(made).Status; got != "created" {
		s.t.Errorf("the attempt is %q", got)
	}
	elsewhere := s.browser()
	elsewhere.header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	if answer := elsewhere.start(made.form()); answer.status != http.StatusBadRequest {
		s.t.Errorf("another site's page starts it: %d", answer.status)
	}
	if answer := s.openWindow(made); answer.status != http.StatusOK {
		s.t.Fatalf("the window ended with %d: %s", answer.status, answer.body)
	}
	done := s.watchAttempt(made)
	if done.Status != "done" || done.Result.ConnectionStatus != "authorized" || done.Result.ExternalState != "state-9" {
		s.t.Errorf("the attempt is %+v", done)
	}
	guessed := made
	guessed.Token = "guessed"
	if got := s.watchAttempt(guessed).Status; got != "" {
		s.t.Errorf("a guessed token reads %q", got)
	}
	if again := s.openWindow(made); again.status != http.StatusBadRequest {
		s.t.Errorf("the start value works twice: %d", again.status)
	}
	again := s.makeAttempt(map[string]string{"reconnect_org_connection_id": done.Result.ConnectionID})
	if answer := s.openWindow(again); answer.status != http.StatusOK {
		s.t.Errorf("reconnecting ended with %d: %s", answer.status, answer.body)
	}
	if got := s.watchAttempt(again); got.Status != "done" || got.Result.ConnectionID != done.Result.ConnectionID {
		s.t.Errorf("the second attempt is %+v", got)
	}
	declined := s.makeAttempt(map[string]string{"endpoint_id": s.seeded.Sandbox.EndpointID, "external_state": "state-10"})
	s.browser().leave(declined.form(), crashPersona, "deny")
	if got := s.watchAttempt(declined); got.Status != "failed" {
		s.t.Errorf("an attempt that the patient declined is %+v", got)
	}
}

// attempt is what a page of ours knows of an attempt.
type attempt struct {
	ID    string `json:"attempt_id"`
	Token string `json:"attempt_token"`
	URL   string `json:"connect_url"`
	Start string `json:"start_value"`
}

func (a attempt) form() startForm { return startForm{url: a.URL, value: a.Start} }

func (o *outside) makeAttempt(body map[string]string) attempt {
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

// openWindow goes through the portal in a browser of its own, to the page that the window ends with.
func (o *outside) openWindow(of attempt) *visited {
	o.t.Helper()
	answer, last := o.browser().leave(of.form(), crashPersona, "approve")
	if answer == nil {
		o.t.Fatalf("the window ended at %v", last)
	}
	return answer
}

// watched is how an attempt stands.
type watched struct {
	Status string `json:"status"`
	Result struct {
		ConnectionID     string `json:"org_connection_id"`
		ConnectionStatus string `json:"connection_status"`
		ExternalState    string `json:"external_state"`
		ConsentEnds      string `json:"consent_expires_at"`
	} `json:"result"`
}

func (o *outside) watchAttempt(of attempt) watched {
	o.t.Helper()
	_, got := o.readAttempt(of, o.seeded.Organisations[0].PublicID)
	return got
}

// readAttempt asks how an attempt stands, with a public id.
func (o *outside) readAttempt(of attempt, publicID string) (status int, got watched) {
	o.t.Helper()
	answered := o.askForAttempt(of, publicID)
	if len(answered.Data) > 0 {
		expect.NoError(o.t, json.Unmarshal(answered.Data, &got))
	}
	return answered.status, got
}

// runConfidential: our client proves who it is, in each way that there is, when it signs in, refreshes and revokes.
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
		result := s.connectTo(quirk{with: "label:" + strings.ToLower(name) + "," + c.with, authID: authID})
		id := result.Get("org_connection_id")
		if id == "" {
			s.t.Fatalf("%s: not connected: %v", name, result)
		}
		<-time.After(2 * time.Hour)
		taskID := s.startExport(id)
		s.letPass(3)
		if got := s.task(taskID); got.text("status") != "success" {
			s.t.Errorf("%s: the export is %s because of %q", name, got.text("status"), got.text("failure_reason"))
		}
		if got := s.asOwner(http.MethodDelete, "/bridge/org_connection/"+id, nil); got.status != http.StatusOK {
			s.t.Errorf("%s: DELETE answered %d", name, got.status)
		}
		s.letPass(3)
		if got := s.connection(id).text("upstream_until"); got != "" {
			s.t.Errorf("%s: the portal was not reached", name)
		}
	}
}

// connectTo takes the patient through the flow at a portal with quirks.
func (s *stack) connectTo(q quirk) url.Values {
	s.t.Helper()
	answer, last := s.browser().open(s.connectURLOf(q), crashPersona, "approve")
	if answer != nil {
		s.t.Fatalf("the browser ended at %s with %d: %s", last.Path, answer.status, answer.body)
	}
	return last.Query()
}

func (o *outside) reconnect(id, persona string) url.Values {
	o.t.Helper()
	answer, last := o.browser().open(o.reconnectURL(id), persona, "approve")
	if answer != nil {
		o.t.Fatalf("the browser ended at %s with %d", last.Path, answer.status)
	}
	return last.Query()
}

func (s *stack) connection(id string) row {
	return s.get("test-ConnectionTable", s.tenant()+"#CONN#"+id, "META")
}

func (s *stack) tokens(id string) row {
	return s.get("test-TokensTable", s.tenant()+"#CONN#"+id, "TOKENS")
}

func (s *stack) task(id string) row { return s.get("test-WorkTable", s.tenant()+"#TASK#"+id, "META") }

func (o *outside) checkStatus(connectionID, want string) {
	o.t.Helper()
	got := o.asOwner(http.MethodGet, "/bridge/org_connection/"+connectionID, nil)
	if got.status != http.StatusOK || !strings.Contains(string(got.Data), `"status":"`+want+`"`) {
		o.t.Errorf("GET the connection answered %d %s, want it %s", got.status, got.Data, want)
	}
}
