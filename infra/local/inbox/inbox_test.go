package inbox_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"recordbridge/infra/local/inbox"
)

const root = "/_local/inbox"

func send(t *testing.T, b *inbox.Inbox, method, path, body string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	maps.Copy(request.Header, header)
	recorder := httptest.NewRecorder()
	b.ServeHTTP(recorder, request)
	return recorder
}

func TestInboxListsDeliveriesOldestFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(root + "/")
		if got := send(t, b, "GET", root, "", nil).Body.String(); got != "[]\n" {
			t.Errorf("before anything has arrived: %q, want an empty list", got)
		}
		header := http.Header{"Webhook-Id": {"1"}, "X-Many": {"a", "b"}}
		if got := send(t, b, "POST", root+"/alder", `{"type":"webhook.test"}`, header).Code; got != http.StatusOK {
			t.Fatalf("got status %d, want 200", got)
		}
		<-time.After(time.Second)
		send(t, b, "POST", root+"/alderman", "second, with \xff", nil)
		send(t, b, "POST", root+"/alder/deeper?x=1", "third", nil)

		first := `{"received_at":"2000-01-01T00:00:00Z","method":"POST","path":"/_local/inbox/alder",` +
			`"headers":{"webhook-id":"1","x-many":"a, b"},"body":"{\"type\":\"webhook.test\"}"}`
		second := `{"received_at":"2000-01-01T00:00:01Z","method":"POST","path":"/_local/inbox/alderman","headers":{},` +
			`"body":"second, with \ufffd"}`
		third := `{"received_at":"2000-01-01T00:00:01Z","method":"POST","path":"/_local/inbox/alder/deeper",` +
			`"headers":{},"body":"third"}`
		for path, want := range map[string]string{
			root:               "[" + first + "," + second + "," + third + "]\n",
			root + "/":         "[" + first + "," + second + "," + third + "]\n",
			root + "/alder":    "[" + first + "," + third + "]\n",
			root + "/alderman": "[" + second + "]\n",
			root + "/nobody":   "[]\n",
		} {
			recorder := send(t, b, "GET", path, "", nil)
			if diff := cmp.Diff(want, recorder.Body.String()); diff != "" {
				t.Errorf("GET %s (-want +got):\n%s", path, diff)
			}
			if got := recorder.Header().Get("Content-Type"); got != "application/json" {
				t.Errorf("GET %s: got content type %q", path, got)
			}
		}
	})
}

func TestInboxKeepsNewestThousandDeliveries(t *testing.T) {
	t.Parallel()
	b := inbox.New(root)
	for i := range 1003 {
		send(t, b, "POST", root+"/alder", strconv.Itoa(i), nil)
	}
	var got []inbox.Delivery
	if err := json.Unmarshal(send(t, b, "GET", root, "", nil).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1000 || got[0].Body != "3" || got[999].Body != "1002" {
		t.Errorf("got %d deliveries from %q to %q, want 3 to 1002", len(got), got[0].Body, got[len(got)-1].Body)
	}
}

func TestInboxRejectsInvalidDeliveries(t *testing.T) {
	t.Parallel()
	b := inbox.New(root)
	if got := send(t, b, "POST", root+"/alder", strings.Repeat("x", 1<<20+1),
		nil).Code; got != http.StatusRequestEntityTooLarge {
		t.Errorf("got status %d for a huge body, want 413", got)
	}
	if got := send(t, b, "DELETE", root+"/alder", "", nil).Code; got != http.StatusMethodNotAllowed {
		t.Errorf("got status %d for DELETE, want 405", got)
	}
	if got := b.List(); len(got) != 0 {
		t.Errorf("got %d deliveries, want none", len(got))
	}
}

func TestInboxVerifiesSignatures(t *testing.T) {
	t.Parallel()
	const body = `{"type":"webhook.test"}`
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another secret of thirty-two b.."))
	signed := func(t *testing.T, secret, body string, at time.Time) http.Header {
		t.Helper()
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := signer.Sign("id-1", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return http.Header{
			"Webhook-Id": {"id-1"}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {signature},
		}
	}
	now := time.Now()
	rotated := signed(t, secret, body, now)
	rotated.Set("Webhook-Signature", signed(t, other, body, now).Get("Webhook-Signature")+" v1a,AAAA "+
		rotated.Get("Webhook-Signature"))
	noID := signed(t, secret, body, now)
	noID.Del("Webhook-Id")
	badTime := signed(t, secret, body, now)
	badTime.Set("Webhook-Timestamp", "today")
	tests := []struct {
		name   string
		path   string
		header http.Header
		want   inbox.Signature
		reason string
	}{
		{"signed with its secret", "/alder", signed(t, secret, body, now), inbox.Verified, ""},
		{"signed with two secrets", "/alder", rotated, inbox.Verified, ""},
		{"at a path below", "/alder/hook", signed(t, secret, body, now), inbox.Verified, ""},
		{
			"signed with another secret", "/alder", signed(t, other, body, now), inbox.Wrong,
			"no signature matches the body and this inbox's secret",
		},
		{
			"another body", "/alder", signed(t, secret, "{}", now), inbox.Wrong,
			"no signature matches the body and this inbox's secret",
		},
		{
			"too old", "/alder", signed(t, secret, body, now.Add(-6*time.Minute)), inbox.Wrong,
			"signed more than 5m0s before or after it arrived",
		},
		{
			"from the future", "/alder", signed(t, secret, body, now.Add(6*time.Minute)), inbox.Wrong,
			"signed more than 5m0s before or after it arrived",
		},
		{"without an id", "/alder", noID, inbox.Wrong, "the header webhook-id is missing"},
		{"with an invalid time", "/alder", badTime, inbox.Wrong, "webhook-timestamp is not a number of seconds"},
		{"not signed", "/alder", nil, inbox.Wrong, "the header webhook-id is missing"},
		{
			"to an inbox without a secret", "/birch", signed(t, secret, body, now), inbox.Unknown,
			"this inbox has no known secret",
		},
		{
			"to an inbox with a broken secret", "/broken", signed(t, secret, body, now), inbox.Unknown,
			"this inbox's secret is not valid base64",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := inbox.New(root)
			b.Expect("alder", secret)
			b.Expect("broken", "whsec_!")
			send(t, b, "POST", root+test.path, body, test.header)
			if got := b.List()[0]; got.Signature != test.want || got.Reason != test.reason || got.Number != 1 {
				t.Errorf("got %q (%s), want %q (%s)", got.Signature, got.Reason, test.want, test.reason)
			}
		})
	}
}
