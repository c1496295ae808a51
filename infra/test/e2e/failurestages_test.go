package e2e_test

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// stage makes one of the documented failures happen.
type stage func(s *stack, aws *awsFailure)

// stagedFailures returns a stage for each failure in docs/operate/failures.md, keyed by the failure's name.
func stagedFailures() map[string]stage {
	all := map[string]stage{}
	for _, some := range []map[string]stage{
		failedDiscoveries(), failedSignIns(), failedReturns(), failedExports(), failedRefreshes(), failedWebhooks(),
		ownFailures(), outageFailures(), refusedRequests(), failedVerifications(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// answering replaces the portal's responses to URLs that contain any of parts.
func (s ehr) answering(status int, media, body string, parts ...string) {
	s.intercept = func(r *http.Request) *http.Response {
		for _, part := range parts {
			if strings.Contains(r.URL.Path, part) {
				return &http.Response{
					StatusCode: status, Header: http.Header{"Content-Type": {media}},
					Body: io.NopCloser(strings.NewReader(body)), Request: r,
				}
			}
		}
		return nil
	}
}

// unreachable makes requests fail with the given error class if their URL contains part.
func unreachable(s *stack, class safehttp.Class, part string) {
	s.unreached = func(r *http.Request) error {
		if strings.Contains(r.URL.Path, part) {
			return &safehttp.Error{Class: class}
		}
		return nil
	}
}

const (
	maintenance = "<!doctype html><title>Maintenance</title>"
	wellKnown   = "/sandbox/fhir/.well-known"
	statements  = "/sandbox/fhir/metadata"
)

func failedDiscoveries() map[string]stage {
	answering := func(status int, media, body string) stage {
		return func(s *stack, _ *awsFailure) {
			s.ehr.answering(status, media, body, wellKnown, statements)
			s.patient.browser().open(s.patient.connectURL(), crashPersona, "approve")
		}
	}
	unreached := func(class safehttp.Class) stage {
		return func(s *stack, _ *awsFailure) {
			unreachable(s, class, wellKnown)
			s.patient.browser().open(s.patient.connectURL(), crashPersona, "approve")
		}
	}
	return map[string]stage{
		"discovery: document not found": func(s *stack, _ *awsFailure) {
			s.intercept = func(r *http.Request) *http.Response {
				answer := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}
				switch {
				case strings.Contains(r.URL.Path, statements): // a CapabilityStatement that doesn't advertise sign-in
					answer.StatusCode, answer.Body = http.StatusOK,
						io.NopCloser(strings.NewReader(`{"resourceType":"CapabilityStatement"}`))
				case !strings.Contains(r.URL.Path, wellKnown):
					return nil
				}
				return answer
			}
			s.patient.browser().open(s.patient.connectURL(), crashPersona, "approve")
		},
		"discovery: HTML page":          answering(http.StatusOK, "text/html", maintenance),
		"discovery: server down":        answering(http.StatusServiceUnavailable, "text/html", maintenance),
		"discovery: connection refused": unreached(safehttp.Connect),
		"discovery: TLS error":          unreached(safehttp.TLS),
		"discovery: timeout":            unreached(safehttp.Timeout),
		"discovery: unapproved servers": signIn("hostile:other-token", "approve"),
	}
}

func signIn(with, decision string) stage {
	return func(s *stack, _ *awsFailure) {
		s.patient.browser().open(s.ehr.connectURLOf(quirk{with: with}), crashPersona, decision)
	}
}

func failedSignIns() map[string]stage {
	return map[string]stage{
		"sign-in: portal's error":         signIn("authorize-error:server_error", "approve"),
		"sign-in: client not authorised":  signIn("authorize-error:unauthorized_client", "approve"),
		"sign-in: declined":               signIn("label:declined", "deny"),
		"sign-in: forged identity":        signIn("id-token:bad-signature", "approve"),
		"sign-in: patient not identified": signIn("patient-unnamed", "approve"),
		"sign-in: wrong client secret": func(s *stack, _ *awsFailure) {
			authID := secretClient(s, "wrong")
			s.patient.browser().open(
				s.ehr.connectURLOf(quirk{with: "client-auth:client_secret_basic,client-secret:right", authID: authID}),
				crashPersona,
				"approve",
			)
		},
	}
}

func secretClient(s *stack, password string) (authID string) {
	s.t.Helper()
	auth := catalog.ClientAuth{Method: catalog.AuthSecretBasic, Origins: []string{host}}
	authID, err := s.operator.Clients.Create(s.t.Context(), org.Tenant{}, auth, secret.New(password))
	expect.NoError(s.t, err)
	return authID
}

func failedReturns() map[string]stage {
	return map[string]stage{
		"return: unknown state": func(s *stack, _ *awsFailure) {
			unknown, err := url.Parse(baseURL + "/bridge/callback/" + ids.Random() + "?state=unknown&code=unknown")
			expect.NoError(s.t, err)
			s.patient.browser().get(unknown)
		},
		"return: expired state": func(s *stack, _ *awsFailure) {
			b := s.patient.browser()
			back := returning(s, b)
			<-time.After(31 * time.Minute)
			b.get(back)
		},
		"return: different browser": func(s *stack, _ *awsFailure) {
			s.patient.browser().get(returning(s, s.patient.browser()))
		},
	}
}

// returning follows a sign-in and returns the portal's redirect to the callback.
func returning(s *stack, b *browser) *url.URL {
	s.t.Helper()
	begin, err := url.Parse(s.patient.connectURL())
	expect.NoError(s.t, err)
	portal := b.get(begin).location()
	query := portal.Query()
	query.Set("persona", crashPersona)
	query.Set("decision", "approve")
	portal.RawQuery = query.Encode()
	return b.get(portal).location()
}

// refreshed returns a stage that connects a patient, calls before to prepare the failure, and waits for the weekly
// refresh.
func refreshed(with string, before func(s *stack)) stage {
	return func(s *stack, _ *awsFailure) {
		s.ehr.connectTo(quirk{with: with})
		if before != nil {
			before(s)
		}
		<-time.After(12 * 24 * time.Hour)
		s.clock.advance(3)
	}
}

// connectionOfWrongClient creates a connection, then replaces the client secret with an incorrect one.
func (s ehr) connectionOfWrongClient() (id string) {
	s.t.Helper()
	authID := secretClient(s.stack, "right")
	id = s.ehr.connectTo(quirk{
		with:   "client-auth:client_secret_basic,client-secret:right",
		authID: authID,
	}).Get("org_connection_id")
	expect.NoError(s.t, s.operator.Clients.Rotate(s.t.Context(), org.Tenant{}, authID,
		operator.Rotation{Secret: secret.New("wrong")}))
	return id
}

// tokenEndpointElsewhere makes the portal advertise a token endpoint at another origin.
func tokenEndpointElsewhere(s *stack) {
	s.intercept = func(r *http.Request) *http.Response {
		answer := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}
		switch {
		case strings.Contains(r.URL.Path, ".well-known"):
			moved := `{"authorization_endpoint":"https://login.elsewhere.example/a",` +
				`"token_endpoint":"https://login.elsewhere.example/t"}`
			answer.StatusCode, answer.Body = http.StatusOK, io.NopCloser(strings.NewReader(moved))
		case !isTokenRequest(r):
			return nil
		}
		return answer
	}
}

func failedRefreshes() map[string]stage {
	return map[string]stage{
		"refresh: consent withdrawn": refreshed("refresh-fails:invalid_grant", nil),
		"refresh: server down":       refreshed("refresh-fails:500", nil),
		"refresh: HTML page with 401": refreshed("label:page", func(s *stack) {
			s.ehr.answering(http.StatusUnauthorized, "text/html", maintenance, "/oauth/token")
		}),
		"refresh: timeout": refreshed("label:slow",
			func(s *stack) { unreachable(s, safehttp.Timeout, "/oauth/token") }),
		"refresh: wrong client secret": func(s *stack, _ *awsFailure) {
			s.ehr.connectionOfWrongClient()
			<-time.After(12 * 24 * time.Hour)
			s.clock.advance(3)
		},
		"refresh: client not authorised": refreshed("refresh-fails:unauthorized_client", nil),
		"refresh: token endpoint moved":  refreshed("label:moved", tokenEndpointElsewhere),
		"revocation: server down": func(s *stack, _ *awsFailure) {
			id := s.ehr.connectTo(quirk{with: "revoke-fails:500"}).Get("org_connection_id")
			s.org.request(http.MethodDelete, "/bridge/org_connection/"+id, nil)
			s.clock.advance(3)
		},
	}
}

// posted returns a stage in which a webhook receiver responds to the given number of events with the given status.
func posted(status, events int) stage {
	return func(s *stack, _ *awsFailure) {
		s.ehr.answering(status, "text/plain", "", "/_local/inbox")
		for range events {
			s.patient.connect(crashPersona, "approve")
			s.clock.advance(1)
		}
	}
}

func unposted(class safehttp.Class) stage {
	return func(s *stack, _ *awsFailure) {
		unreachable(s, class, "/_local/inbox")
		s.patient.connect(crashPersona, "approve")
		s.clock.advance(1)
	}
}

func failedWebhooks() map[string]stage {
	return map[string]stage{
		"webhook: receiver down": posted(http.StatusServiceUnavailable, 1),
		"webhook: disabled":      posted(http.StatusGone, 1),
		"webhook: delivery held": posted(http.StatusGone, 2),

		"webhook: timeout":            unposted(safehttp.Timeout),
		"webhook: connection refused": unposted(safehttp.Connect),
	}
}

func damaged(s *stack, table, pk, sk, attribute string, value types.AttributeValue) {
	s.t.Helper()
	_, err := s.rows.UpdateItem(s.t.Context(), &dynamodb.UpdateItemInput{
		TableName: &table,
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk},
			"sk": &types.AttributeValueMemberS{Value: sk},
		},
		UpdateExpression: awssdk.String("SET #a = :a"), ExpressionAttributeNames: map[string]string{"#a": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":a": value},
	})
	expect.NoError(s.t, err)
}

// throttled returns a stage in which DynamoDB throttles updates once an export has been requested.
func throttled(when func(s *stack)) stage {
	return func(s *stack, aws *awsFailure) {
		s.org.startExport(s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
		if when != nil {
			when(s)
		}
		*aws = awsFailure{"dynamodb", "UpdateItem", "com.amazonaws.dynamodb.v20120810#ThrottlingException"}
		s.clock.advance(2)
	}
}

func ownFailures() map[string]stage {
	return map[string]stage{
		"row: damaged task": func(s *stack, _ *awsFailure) {
			taskID := s.org.startExport(s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
			damaged(s, "test-WorkTable", s.tenant()+"#TASK#"+taskID, "META", "options",
				&types.AttributeValueMemberS{Value: `{"since":`})
			s.clock.advance(1)
		},
		"row: damaged connection": func(s *stack, _ *awsFailure) {
			id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
			damaged(s, "test-ConnectionTable", s.tenant()+"#CONN#"+id, "META", "status",
				&types.AttributeValueMemberS{Value: "unknown"})
			s.org.request(http.MethodPost, "/bridge/fhir/ehi-export", map[string]any{"org_connection_id": id})
		},
		"row: damaged cached record": func(s *stack, _ *awsFailure) {
			id, _ := s.ehr.connectFacility(facilityRecord()[:1], nil)
			for _, key := range s.ehr.cached() {
				expect.NoError(s.t, s.ehr.documents().Put(s.t.Context(), key, "", []byte("nothing that opens")))
			}
			s.org.startExport(id)
			s.clock.advance(0)
		},
		"row: damaged tokens": func(s *stack, _ *awsFailure) {
			id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
			damaged(s, "test-TokensTable", s.tenant()+"#CONN#"+id, "TOKENS", "sealed",
				&types.AttributeValueMemberB{Value: []byte("nothing that opens")})
			s.org.startExport(id)
			s.clock.advance(1)
		},
		"table: throttled":             throttled(nil),
		"table: throttled for due row": throttled(func(s *stack) { s.queues.loseMessages() }),
		"queue: full": func(s *stack, aws *awsFailure) {
			id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
			*aws = awsFailure{"sqs", "SendMessage", "OverLimit"}
			s.org.startExport(id)
		},
	}
}

func refusedRequests() map[string]stage {
	return map[string]stage{
		"request: rate limit": func(s *stack, _ *awsFailure) {
			limited := s.functions["GetOrgFunction"]
			limited.declared.Environment = maps.Clone(limited.declared.Environment)
			limited.declared.Environment["REQUESTS_PER_MINUTE"] = "1"
			limited.serve = nil
			for range 3 {
				s.call(http.MethodGet, "/bridge/org?public_id="+s.seeded.Organisations[0].PublicID, "", "", nil)
			}
		},
		"mail: limit reached": func(s *stack, _ *awsFailure) {
			c, who := newConsole(s), map[string]any{"email": "new@birch.example", "role": "viewer"}
			path := "/dashboard/organisations/" + c.own + "/invitations"
			for range 3 {
				c.at(http.MethodDelete, path+"/"+text(c.at(http.MethodPost, path, who), "id"), nil)
			}
			c.send(http.MethodPost, path, c.header(), who)
		},
		"request: refused": func(s *stack, _ *awsFailure) {
			s.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
				map[string]any{"org_connection_id": ids.Random(), "formats": []string{"pdf"}})
		},
		"request: unknown record": func(s *stack, _ *awsFailure) {
			s.org.request(http.MethodPost, "/bridge/fhir/ehi-export", map[string]any{"org_connection_id": ids.Random()})
		},
	}
}
