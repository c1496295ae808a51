package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/org"
)

// newPublisher starts a service that publishes a key, and returns its stack's outputs. Tests can adjust the service's
// clock skew, in seconds, and its response status.
func newPublisher(t *testing.T) (outputs string, skew *atomic.Int64, status *atomic.Int64) {
	t.Helper()
	skew, status = &atomic.Int64{}, &atomic.Int64{}
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Duration(skew.Load())*time.Second).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Load()))
		fmt.Fprint(w, `{"keys":[{"kty":"RSA","kid":"k","alg":"RS384","use":"sig","n":"AQAB","e":"AQAB"}]}`)
	}))
	t.Cleanup(server.Close)
	return newStackAt(t, server.URL+"/v1"), skew, status
}

func examined(t *testing.T, outputs string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), []string{"-outputs", outputs, "doctor"}, to(&out))
	return out.String(), exitCode(err)
}

// TestDoctorReportsRemediesAndSkippedChecks introduces faults one at a time and checks that doctor detects each one and
// reports its remedy.
func TestDoctorReportsRemediesAndSkippedChecks(t *testing.T) {
	outputs, skew, status := newPublisher(t)
	do := doer(t, outputs)
	id := do("organisation", "create", "-name", "Alder")["id"].(string)
	hook := do("webhook", "create", "-org", id, "-mode", "test", "-url", "https://hooks.alder.example/in")["id"].(string)
	found := openStored(t, outputs)
	told, code := examined(t, outputs)
	if code != 0 || !strings.Contains(told, `"healthy": true`) || strings.Contains(told, `"state": "wrong"`) {
		t.Fatalf("a healthy stack: exit code %d, %s", code, told)
	}
	for _, unseen := range []string{
		"Operators can't read", "found by stack name",
		"No catalogue is published in live mode",
	} {
		if !strings.Contains(told, unseen) {
			t.Errorf("%q is not told as not seen: %s", unseen, told)
		}
	}
	if !strings.Contains(told, "The audit chain of "+id+" is intact. Save the chain's head 2:") {
		t.Errorf("no head is told: %s", told)
	}
	for _, trouble := range []struct {
		what, want, do string
		make, mend     func()
	}{
		{"a clock", "differ by 2m", "NTP", func() { skew.Store(150) }, func() { skew.Store(0) }},
		{
			"the service", "responds with status 503", "api-errors.md", func() { status.Store(http.StatusServiceUnavailable) },
			func() { status.Store(http.StatusOK) },
		},
		{
			"a webhook", "Webhook " + hook + " was disabled", "ctl webhook enable -org " + id,
			func() { do("webhook", "disable", "-org", id, "-mode", "test", "-id", hook) },
			func() { do("webhook", "enable", "-org", id, "-mode", "test", "-id", hook) },
		},
		{
			"a dead letter", "The dead-letter queue for refreshes has 1 messages", "ctl redrive -queue refreshes",
			func() { found.die(t, "Refresh", due.Connection) }, func() {
				do("redrive", "-yes", "-queue", "refreshes",
					"-apply")
			},
		},
		{
			"an audit row", "is broken at row 1: changed", "ctl audit verify -org " + id,
			func() { found.tamper(t, id, "somebody") }, func() { found.tamper(t, id, actor) },
		},
	} {
		trouble.make()
		told, code := examined(t, outputs)
		if code != 1 || !strings.Contains(told, trouble.want) || !strings.Contains(told, trouble.do) {
			t.Errorf("%s: exit code %d, %s", trouble.what, code, told)
		}
		trouble.mend()
		if told, code = examined(t, outputs); code != 0 {
			t.Errorf("%s is mended: exit code %d, %s", trouble.what, code, told)
		}
	}
}

func (s stored) tamper(t *testing.T, id, who string) {
	t.Helper()
	_, err := store.NewClient(s.config).UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: new(s.outputs["AuditTable"]), UpdateExpression: new("SET actor = :who"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "ORG#" + id},
			"sk": &types.AttributeValueMemberS{Value: "ROW#000000000001"},
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{":who": &types.AttributeValueMemberS{Value: who}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

const deadID = "c0000000-0000-4000-8000-0000000000dd"

// die sends a message about a row to the dead-letter queue selected by which: Export, Delivery or Refresh.
func (s stored) die(t *testing.T, which string, kind due.Kind) {
	t.Helper()
	body, err := due.Item{
		Tenant: org.Tenant{Mode: org.Live, OrgID: "0a000000-0000-4000-8000-00000000000a"}, Kind: kind,
		ID: deadID,
	}.Encode()
	if err == nil {
		_, err = sqs.NewFromConfig(s.config).SendMessage(t.Context(),
			&sqs.SendMessageInput{QueueUrl: new(s.outputs[which+"DeadLetterQueueUrl"]), MessageBody: &body})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRedriveListsAndResendsDeadLetters(t *testing.T) {
	outputs := newStack(t)
	found := openStored(t, outputs)
	for which, kind := range map[string]due.Kind{"Delivery": due.Event, "Refresh": due.Connection} {
		word := map[string]string{"Delivery": "deliveries", "Refresh": "refreshes"}[which]
		found.die(t, which, kind)
		shown, err := ctl(t, outputs, "redrive", "-yes", "-queue", word, "-apply")
		if err != nil || !strings.Contains(fmt.Sprint(shown), "id:"+deadID) ||
			!strings.Contains(fmt.Sprint(shown), "outcome:sent") {
			t.Errorf("%s: %v, %s", word, err, shown)
		}
		left, err := ctl(t, outputs, "redrive", "-yes", "-queue", word)
		if err != nil || fmt.Sprint(left) != "map[letters:[]]" {
			t.Errorf("%s, again: %v, %s", word, err, left)
		}
		out, err := sqs.NewFromConfig(found.config).ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: new(found.outputs[which+"QueueUrl"])})
		if err != nil || len(out.Messages) != 1 || !strings.Contains(*out.Messages[0].Body, deadID) {
			t.Errorf("%s: %v, the workers' queue has %d messages", word, err, len(out.Messages))
		}
	}
	found.die(t, "Export", due.Event) // the export worker doesn't handle events
	if shown, err := ctl(t, outputs, "redrive", "-yes", "-queue", "exports"); err != nil ||
		!strings.Contains(fmt.Sprint(shown), "outcome:left") {
		t.Errorf("only looked at: %v, %s", err, shown)
	}
}

func TestResealReencryptsSealedValues(t *testing.T) {
	outputs := newStack(t)
	do := doer(t, outputs)
	id := do("organisation", "create", "-name", "Alder")["id"].(string)
	do("webhook", "create", "-org", id, "-mode", "test", "-url", "https://hooks.alder.example/in", "-signing-key")
	client := do("client", "create", "-org", id, "-mode", "test", "-method", "client_secret_basic", "-origin",
		"https://auth.example", "-secret-file", writeFile(t, "the secret"))["client_auth_id"].(string)
	found, tenant := openStored(t, outputs), org.Tenant{Mode: org.Test, OrgID: id}
	before, _ := found.client(t, tenant, client)
	hooks, err := store.Hooks(found.control).Subscriptions(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = ctl(t, outputs, "reseal"); exitCode(err) != 2 {
		t.Errorf("without -apply: %v", err)
	}
	if done := do("reseal", "-apply"); done["webhooks"] != 1.0 || done["clients"] != 1.0 {
		t.Errorf("sealed anew: %v", done)
	}
	after, plain := found.client(t, tenant, client)
	if bytes.Equal(before.Secret, after.Secret) || plain != "the secret" {
		t.Errorf("the client's secret opens as %q, sealed anew: %t", plain, !bytes.Equal(before.Secret, after.Secret))
	}
	again, err := store.Hooks(found.control).Subscriptions(t.Context(), tenant)
	if err != nil || bytes.Equal(hooks[0].Secrets[0].Sealed, again[0].Secrets[0].Sealed) ||
		bytes.Equal(hooks[0].Private, again[0].Private) {
		t.Errorf("the webhook's secrets are as they were (%v)", err)
	}
	do("webhook", "rotate", "-yes", "-org", id, "-mode", "test", "-id", again[0].ID) // decrypts all the webhook's secrets
	if rows := found.audited(t, org.Tenant{}); !slices.Contains(rows, "secrets.resealed webhooks=1 clients=1") {
		t.Errorf("the audit rows are %q", rows)
	}
}
