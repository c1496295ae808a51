package webhookworker_test

import (
	"context"
	"errors"
	"testing"

	"recordbridge/functions/webhookworker"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/org"
)

var errTrouble = errors.New("trouble on our side")

type webhooks struct {
	calls []string
	err   error
}

func (w *webhooks) DeliverEvent(_ context.Context, tenant org.Tenant, id string) error {
	w.calls = append(w.calls, "event "+tenant.Key()+" "+id)
	return w.err
}

func (w *webhooks) RetryDelivery(_ context.Context, tenant org.Tenant, id string) error {
	w.calls = append(w.calls, "delivery "+tenant.Key()+" "+id)
	return w.err
}

func (w *webhooks) SendNotice(_ context.Context, tenant org.Tenant, id string) error {
	w.calls = append(w.calls, "notice "+tenant.Key()+" "+id)
	return w.err
}

func TestWorkerDispatchesMessageByKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[due.Kind]string{
		due.Event: "event test#o1 x", due.Delivery: "delivery test#o1 x", due.Notice: "notice test#o1 x",
		due.Task: "", due.Share: "", due.Connection: "", due.Attempt: "", "other": "",
	} {
		for _, failure := range []error{nil, errTrouble} {
			w := webhooks{err: failure}
			err := webhookworker.New(&w, &w)(t.Context(),
				due.Item{Tenant: org.Tenant{Mode: org.Test, OrgID: "o1"}, Kind: kind, ID: "x"})
			if want == "" {
				if err != nil || len(w.calls) != 0 {
					t.Errorf("%s: %v, called %q", kind, err, w.calls)
				}
				continue
			}
			if !errors.Is(err, failure) || len(w.calls) != 1 || w.calls[0] != want {
				t.Errorf("%s: %v, called %q, want %q", kind, err, w.calls, want)
			}
		}
	}
}
