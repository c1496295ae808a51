package console_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/console"
)

func TestStateIncludesTotalsAndFunctions(t *testing.T) {
	t.Parallel()
	f := build(t)
	withTable(t, f)
	withQueues(t, f)
	f.timeline.Requested("1-a", "SweeperFunction", nil)
	f.timeline.Ended("1-a", nil, errors.New("broken"), 0)
	var got map[string]any
	f.get(t, 200, &got, "state")
	want := map[string]any{
		"base_url": "http://127.0.0.1:4566/v1", "inbox_url": "http://127.0.0.1:4566/_local/inbox",
		"run_file": ".local/run.json", "stack": "embedded",
		"functions": []any{map[string]any{
			"id": "SweeperFunction", "schedule": "every 1m0s", "memory_mb": 256.0, "timeout": "55s",
			"processes": 1.0, "busy": 0.0, "invocations": 3.0, "failures": 0.0,
			"log": []any{"<script>", "lost private_test_[hidden]"},
		}},
		"totals": map[string]any{
			"invocations": 1.0, "failed": 1.0, "rows": 6.0, "messages": 1.0, "dead_letters": 2.0, "mails": 1.0, "webhooks": 2.0,
			"unverified": 1.0,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// A mail's HTML is untrusted, so the page shows it in a frame, where it can't affect the console.
func TestMailHTMLIsServedAsSandboxedDocument(t *testing.T) {
	t.Parallel()
	f := build(t)
	got := f.serve(t, "GET", "/_local/api/mail/1", nil)
	policy := got.Header().Get("Content-Security-Policy")
	if got.Code != 200 || got.Body.String() != evil || !strings.HasPrefix(policy, "sandbox; default-src 'none'; ") ||
		strings.Contains(policy, "allow-") {
		t.Errorf("got %d %q with policy %q", got.Code, got.Body, policy)
	}
	if got := f.serve(t, "GET", "/_local/api/mail/2", nil); got.Code != 404 {
		t.Errorf("of no mail: %d", got.Code)
	}
}

func TestConsoleListsMailAndWebhooks(t *testing.T) {
	t.Parallel()
	f := build(t)
	var mail struct{ Mails []console.Mail }
	f.get(t, 200, &mail, "mail")
	shown := f.stack.Mails()
	shown[0].HTML = "" // the HTML is served as a separate document
	if diff := cmp.Diff(shown, mail.Mails); diff != "" {
		t.Errorf("mail (-want +got):\n%s", diff)
	}
	var inbox struct{ Webhooks []console.Webhook }
	f.get(t, 200, &inbox, "inbox")
	if diff := cmp.Diff(f.stack.Webhooks(), inbox.Webhooks); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
}
