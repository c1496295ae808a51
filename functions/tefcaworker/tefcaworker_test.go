package tefcaworker_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"recordbridge/functions/tefcaworker"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

var errTrouble = errors.New("trouble on our side")

type attempts struct {
	looked []string
	err    error
}

func (a *attempts) Process(_ context.Context, tenant org.Tenant, id string) error {
	a.looked = append(a.looked, tenant.Key()+" "+id)
	return a.err
}

// TestWorkerProcessesAttemptNamedInMessage also checks that a message is retried if processing its attempt fails.
// Messages that don't refer to an attempt must be logged and dropped.
func TestWorkerProcessesAttemptNamedInMessage(t *testing.T) {
	t.Parallel()
	for _, mode := range []org.Mode{org.Test, org.Live} {
		for _, kind := range []due.Kind{
			due.Attempt, due.Event, due.Delivery, due.Notice, due.Task, due.Share, due.Connection,
			"other", "",
		} {
			for _, failure := range []error{nil, errTrouble} {
				a, log := attempts{err: failure}, bytes.Buffer{}
				ctx, event := logx.Begin(t.Context())
				err := tefcaworker.New(&a)(ctx, due.Item{Tenant: org.Tenant{Mode: mode, OrgID: "o1"}, Kind: kind, ID: "x"})
				event.Emit(ctx, logx.New(&log), "test")
				want, fails := "", error(nil)
				if kind == due.Attempt {
					want, fails = string(mode)+"#o1 x", failure
				}
				if got := strings.Join(a.looked, ", "); got != want || !errors.Is(err, fails) {
					t.Errorf("%s %q: looked at %q, %v, want %q, %v", mode, kind, got, err, want, fails)
				}
				for _, part := range []string{`"org_id":"o1"`, `"mode":"` + string(mode) + `"`, `"` + string(kind) + `_id":"x"`} {
					if !strings.Contains(log.String(), part) {
						t.Errorf("%s %q: the log lacks %s: %s", mode, kind, part, log.String())
					}
				}
			}
		}
	}
}
