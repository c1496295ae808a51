package main

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"recordbridge/infra/local/inbox"
)

// TestWatchRejectsFirstDeliveriesOfExportEvent also checks that the receiver accepts the third attempt and all other
// events, and that other receivers accept every event.
func TestWatchRejectsFirstDeliveriesOfExportEvent(t *testing.T) {
	t.Parallel()
	f := fronted(t)
	f.watch.Store(newWatch(0))
	success, other := `{"type":"patient.ehi_export_success","data":{"task_id":"t-1"}}`,
		`{"type":"patient.connection_created"}`
	for i, test := range []struct {
		path, body string
		status     int
	}{
		{"/birch", other, 200},
		{"/alder", success, 200},
		{"/birch", success, 503},
		{"/birch", success, 503},
		{"/birch", success, 200},
	} {
		if got := sent(f, inboxPath+test.path, test.body); got != test.status {
			t.Errorf("%d, %s to %s: got %d, want %d", i, test.body, test.path, got, test.status)
		}
	}
	all := f.inbox.List()
	if last := all[len(all)-1]; len(all) != 3 || last.Path != inboxPath+"/birch" || last.Body != success {
		t.Errorf("the inbox has %v", all)
	}
}

// TestRetryAfterIncreasesWithUpgradeDuration also checks that a fast upgrade does not postpone a delivery beyond its
// schedule.
func TestRetryAfterIncreasesWithUpgradeDuration(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		took time.Duration
		want string
	}{
		{2 * time.Minute, "300"}, {3 * time.Minute, "450"}, {time.Hour, "600"},
	} {
		if got := newWatch(test.took).retryAfter(); got != test.want {
			t.Errorf("after %s: got %s, want %s", test.took, got, test.want)
		}
	}
}

func TestHoldDelaysPortalRequestsUntilUpgradeEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(0)
		for _, test := range []struct {
			path  string
			holds bool
			held  time.Duration
			asked int32
		}{
			{"/v1" + slow + "/fhir/Patient/p", false, 0, 0},
			{"/v1" + slow + "/fhir/Observation?patient=p", true, held, 1},
			{"/v1/sandbox/fhir/Observation?patient=p", true, 0, 1},
			{"/v1" + slow + "/oauth/token", true, 0, 1},
		} {
			w.holds.Store(test.holds)
			began := time.Now()
			w.hold(httptest.NewRequest(http.MethodGet, test.path, http.NoBody))
			if got := time.Since(began); got != test.held || w.asked.Load() != test.asked {
				t.Errorf("%s: held back for %s, counted %d; want %s, %d", test.path, got, w.asked.Load(), test.held, test.asked)
			}
		}
		time.AfterFunc(time.Second, func() { close(w.over) })
		began := time.Now()
		w.hold(httptest.NewRequest(http.MethodGet, "/v1"+slow+"/fhir/Patient/p", http.NoBody))
		if got := time.Since(began); got != time.Second {
			t.Errorf("when the upgrade is over: held back for %s, want a second", got)
		}
	})
}

func TestAwaitRequiresExactlyOneSignedEvent(t *testing.T) {
	t.Parallel()
	const success = `{"type":"patient.ehi_export_success","data":{"task_id":"t-1"}}`
	for name, test := range map[string]struct {
		sent []string // bodies signed with the secret and sent to the inbox
		want string
	}{
		"once":  {[]string{success}, ""},
		"twice": {[]string{success, success}, "the event arrived 2 times"},
		"of another task": {
			[]string{
				`{"type":"patient.ehi_export_success","data":{"task_id":"t-2"}}`,
				`{"type":"patient.ehi_export_failed","data":{"task_id":"t-1"}}`, "t-1",
			},
			"waiting until the event comes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
				received := inbox.New(inboxPath)
				received.Expect("alder", secret)
				for _, body := range test.sent {
					signed(t, received, secret, body)
				}
				err := await(t.Context(), received, []expectedEvent{{"the event", "t-1"}}, io.Discard)
				if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("got %v, want %s", err, test.want)
				}
				forged := inbox.New(inboxPath)
				forged.Expect("alder", "whsec_"+base64.StdEncoding.EncodeToString([]byte("another secret of thirty-two b..")))
				for _, body := range test.sent {
					signed(t, forged, secret, body)
				}
				if err = await(t.Context(), forged, []expectedEvent{{"the event", "t-1"}}, io.Discard); err == nil ||
					!strings.Contains(err.Error(), "waiting until the event comes") {
					t.Errorf("with another's signature: got %v", err)
				}
			})
		})
	}
}

func signed(t *testing.T, to *inbox.Inbox, secret, body string) {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := signer.Sign("id-1", time.Now(), []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, inboxPath+"/alder", strings.NewReader(body))
	request.Header.Set("Webhook-Id", "id-1")
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(time.Now().Unix(), 10))
	request.Header.Set("Webhook-Signature", signature)
	to.ServeHTTP(httptest.NewRecorder(), request)
}

func TestWaitErrorNamesUnmetCondition(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := until(ctx, "it rains", func() bool { return false }); err == nil ||
		!strings.Contains(err.Error(), "waiting until it rains") {
		t.Errorf("got %v", err)
	}
}
