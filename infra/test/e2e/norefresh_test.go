package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

// These switches simulate portals that do not issue refresh tokens. A connection to a portal that issues no refresh
// tokens ends when its access token expires. The constants briefly and forYear select the shortest and longest token
// lifetimes.
const (
	briefly = "no-refresh,access:5m"
	forYear = "no-refresh,access:8760h"
)

// TestConnectionWithoutRefreshTokenExpires checks that the expiry of a connection without a refresh token is announced
// at sign-in and that exports work until then. The connection must be revoked exactly once, even if no export is
// requested. A reconnect must authorize the connection again.
func TestConnectionWithoutRefreshTokenExpires(t *testing.T) {
	t.Parallel()
	for with, life := range map[string]time.Duration{briefly: 5 * time.Minute, forYear: 365 * 24 * time.Hour} {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{})
				s.org.subscribe(webhook.AuthorizationEnding)
				id, ends := s.ehr.connectUntil(with, life)
				warnedAt := time.Now()
				if life > 7*24*time.Hour {
					warnedAt = ends.Add(-7 * 24 * time.Hour)
				}
				<-time.After(time.Until(warnedAt))
				s.clock.advance(3)
				s.check.warned(id, ends)
				<-time.After(time.Until(ends) - time.Minute)
				s.org.startExport(id)
				s.clock.advance(0)
				s.org.checkDownload(crashPersona)
				s.org.checkStatus(id, "authorized")
				<-time.After(time.Until(ends))
				s.clock.advance(2)
				s.check.revoked(id, "access_expired")
				s.check.warned(id, ends)
				checkNextAuthorisation(s, id, life)
			})
		})
	}
}

// TestRunningExportFailsWhenAccessTokenExpires checks an export that is still running when the access token expires.
// The export must fail for the documented reason, and the connection must be revoked exactly once.
func TestRunningExportFailsWhenAccessTokenExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		id, _ := s.ehr.connectUntil(briefly, 5*time.Minute)
		s.intercept = func(r *http.Request) *http.Response {
			if isFHIR(r) {
				<-time.After(2 * time.Minute) // virtual time, because the test runs in a synctest bubble
			}
			return nil
		}
		taskID := s.org.startExport(id)
		s.clock.finish(60)
		if got := s.state.task(taskID); got.text("failure_reason") != "token_refresh_failure" {
			t.Errorf("the export is %s because of %q", got.text("status"), got.text("failure_reason"))
		}
		s.check.revoked(id, "access_expired")
		if failed := s.webhooks.events("patient.ehi_export_failed"); len(failed) != 1 {
			t.Errorf("the failure was told %d times", len(failed))
		}
	})
}

func TestReconnectWithRefreshTokenRemovesExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.intercept = s.ehr.withhold
		id, ends := s.ehr.connectUntil("access:5m", 5*time.Minute)
		s.intercept = nil
		if got := s.patient.reconnect(id, crashPersona); got.Get("connection_status") != "authorized" ||
			got.Get("consent_expires_at") != "" {
			t.Fatalf("the patient came back with %v", got)
		}
		<-time.After(time.Until(ends))
		s.clock.advance(3)
		<-time.After(11 * 24 * time.Hour)
		s.clock.advance(3)
		s.check.refreshed(t, id)
		s.org.startExport(id)
		s.clock.advance(2)
		s.org.checkDownload(crashPersona)
	})
}

// connectUntil connects a patient at a portal that issues no refresh token, and returns the connection's expiry. The
// redirect, the event and the connection's details must all state this expiry.
func (s ehr) connectUntil(with string, life time.Duration) (id string, ends time.Time) {
	s.t.Helper()
	result := s.ehr.connectTo(quirk{with: with})
	id, told := result.Get("org_connection_id"), result.Get("consent_expires_at")
	ends, err := time.Parse(time.RFC3339, told)
	if err != nil || time.Until(ends) > life || time.Until(ends) < life-time.Minute {
		s.t.Fatalf("consent ends at %q: %v", told, result)
	}
	s.clock.advance(0)
	connected := s.webhooks.events("patient.connection_success")
	if len(connected) != 1 || !strings.Contains(connected[0].Body, `"consent_expires_at":"`+told+`"`) {
		s.t.Errorf("the connection was told as %v", connected)
	}
	if got := s.org.request(http.MethodGet, "/bridge/org_connection/"+id, nil); !strings.Contains(string(got.Data),
		`"consent_expires_at":"`+told+`"`) {
		s.t.Errorf("the record is %s", got.Data)
	}
	return id, ends
}

// checkNextAuthorisation reconnects the patient at the same portal and checks that the new authorisation also expires.
func checkNextAuthorisation(s *stack, id string, life time.Duration) {
	s.t.Helper()
	back := s.patient.reconnect(id, crashPersona)
	ends, err := time.Parse(time.RFC3339, back.Get("consent_expires_at"))
	if err != nil || time.Until(ends) > life || back.Get("connection_status") != "authorized" {
		s.t.Fatalf("the patient came back with %v", back)
	}
	s.org.checkStatus(id, "authorized")
	<-time.After(time.Until(ends))
	s.clock.advance(2)
	s.org.checkStatus(id, "revoked")
	if told := s.eventIDs(webhook.AuthorizationEnded, id); len(told) != 2 {
		s.t.Errorf("two ends were told as %v", told)
	}
}

// warned checks that the connection's expiry was announced exactly once, with its cause.
func (s checks) warned(id string, ends time.Time) {
	s.t.Helper()
	told := s.webhooks.events("patient.authorization_expiring")
	if len(told) != 1 || !strings.Contains(told[0].Body, id) ||
		!strings.Contains(told[0].Body, `"cause":"no_refresh_token"`) ||
		!strings.Contains(told[0].Body, `"consent_expires_at":"`+ends.UTC().Format(time.RFC3339)+`"`) {
		s.t.Errorf("the coming end was told %d times: %v", len(told), told)
	}
}

// forgetEnd removes the expiry from a connection's row.
func (s *stack) forgetEnd(id string) {
	s.t.Helper()
	_, err := s.rows.UpdateItem(s.t.Context(), &dynamodb.UpdateItemInput{
		TableName: awssdk.String("test-ConnectionTable"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: s.tenant() + "#CONN#" + id},
			"sk": &types.AttributeValueMemberS{Value: "META"},
		},
		UpdateExpression: awssdk.String(
			"REMOVE due_at, due_shard, refresh_at, unrenewable, consent_expires_at, consent_fixed, warned"),
	})
	expect.NoError(s.t, err)
}

// withhold removes the refresh token from the portal's responses.
func (s ehr) withhold(r *http.Request) *http.Response {
	if !isTokenRequest(r) {
		return nil
	}
	_, answer := s.ehr.passOn(r)
	var given map[string]any
	expect.NoError(s.t, json.Unmarshal(answer.Body.Bytes(), &given))
	delete(given, "refresh_token")
	body, err := json.Marshal(given)
	expect.NoError(s.t, err)
	sent := answer.Result()
	sent.Body, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	sent.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return sent
}
