package console_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type invocation struct {
	ID, Function, State, Outcome, Error string
	Wide                                []map[string]any
	Lines                               []string
}

func TestInvocationsRedactKeys(t *testing.T) {
	t.Parallel()
	f := build(t)
	f.timeline.Requested("1-a", "Worker", []byte(`{"Records":[{"messageId":"m-1","eventSourceARN":"q"}]}`))
	f.timeline.Assigned("1-a", "r-1")
	f.timeline.Wrote("1-a", `{"msg":"worker.message","request_id":"m-1","cause":"sent whsec_SENTINEL"}`)
	f.timeline.Wrote("1-a", "panic: private_test_SENTINEL")
	f.timeline.Ended("1-a", nil, errors.New("with whsk_SENTINEL"), 0)
	f.timeline.Requested("1-b", "Sandbox", nil)

	want := invocation{
		ID: "1-a", Function: "Worker", State: "failed", Outcome: "not invoked", Error: "with whsk_[hidden]",
		Wide: []map[string]any{{"msg": "worker.message", "request_id": "m-1", "cause": "sent whsec_[hidden]"}},
	}
	var list struct{ Invocations []invocation }
	f.get(t, 200, &list, "invocations", "failed", "1")
	if diff := cmp.Diff([]invocation{want}, list.Invocations); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for _, test := range []struct {
		name, value string
		want        int
	}{
		{"function", "Worker", 1},
		{"function", "Nobody", 0},
		{"without", "Sandbox", 1},
		{"limit", "1", 1},
		{"limit", "none", 2},
	} {
		f.get(t, 200, &list, "invocations", test.name, test.value)
		if len(list.Invocations) != test.want {
			t.Errorf("%s=%s: got %d, want %d", test.name, test.value, len(list.Invocations), test.want)
		}
	}
	var got invocation
	f.get(t, 200, &got, "invocations/1-a")
	want.Lines = []string{"panic: private_test_[hidden]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("invocation (-want +got):\n%s", diff)
	}
	var refused map[string]string
	f.get(t, 404, &refused, "invocations/1-c")
}
