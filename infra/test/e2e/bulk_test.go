package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const (
	// usualRate is the default limit on delivery attempts per second to an endpoint.
	usualRate = 50
	// bulkPollers is the number of concurrent invocations of the webhook worker. Lambda starts with five invocations
	// and scales to 50.
	bulkPollers = 5
	// batchTakes simulates the duration of an invocation's AWS calls, which otherwise take no virtual time. answerTakes
	// is a receiver's response time.
	batchTakes  = 100 * time.Millisecond
	answerTakes = 100 * time.Millisecond
)

// bulkSize returns how many of a customer's connections to revoke at once.
func bulkSize() int {
	switch {
	case isLongSoak():
		return 10_000
	case isSoak():
		return 2_500
	default:
		return 250
	}
}

// TestCrowdOfRevocationsDoesNotDelayOtherCustomers checks that a burst of revocations by one customer does not delay
// another customer's events. The burst must drain at the endpoint's rate, with each event delivered once. The other
// customer's export events arrive within seconds, whether sent right after the burst or while the queue drains. The
// simulated queue delivers messages in the order in which they were sent. This is the worst case, because SQS's fair
// queues would favour other customers' messages.
func TestCrowdOfRevocationsDoesNotDelayOtherCustomers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		n := bulkSize()
		r := &receivers{arrived: map[string]map[string][]time.Time{}}
		s.intercept = r.serve
		alder, birch := s.state.tenantOf(0), s.state.tenantOf(1)
		began := time.Now()
		for i := range n {
			s.announce(alder, webhook.AuthorizationEnded, fmt.Sprintf("connection %d", i), webhook.AuthorizationRevoked{})
		}
		behind := s.announce(birch, webhook.ExportSucceeded, "task 1", webhook.ExportSuccess{})
		stop := deliverAlways(s)
		<-time.After(time.Duration(n/usualRate) * time.Second / 2)
		halfway := time.Now()
		if got := len(r.times("alder")); got > n*3/4 {
			t.Errorf("%d of %d had arrived halfway: there is no crowd any more", got, n)
		}
		meanwhile := s.announce(birch, webhook.ExportSucceeded, "task 2", webhook.ExportSuccess{})
		for range n/usualRate + 120 {
			<-time.After(time.Second)
		}
		stop()

		// Workers receive all n messages at once, in batches of 10.
		most := time.Duration(n/10/bulkPollers)*batchTakes + 2*time.Second
		r.checkDelay(t, "right behind", behind, began, most)
		r.checkDelay(t, "halfway", meanwhile, halfway, 2*time.Second)
		r.checkOnce(t, n)
		checkRate(t, r.times("alder"))
		t.Logf("%d events in %s", n, slices.MaxFunc(r.times("alder"), time.Time.Compare).Sub(began))
	})
}

// receivers accepts webhooks in place of the inbox, which stores at most 1,000 deliveries.
type receivers struct {
	mu      sync.Mutex
	arrived map[string]map[string][]time.Time // arrival times by inbox and webhook-id header
}

func (r *receivers) serve(in *http.Request) *http.Response {
	inbox, isOne := strings.CutPrefix(in.URL.Path, "/_local/inbox/")
	if !isOne {
		return nil
	}
	r.mu.Lock()
	if r.arrived[inbox] == nil {
		r.arrived[inbox] = map[string][]time.Time{}
	}
	id := in.Header.Get("Webhook-Id")
	r.arrived[inbox][id] = append(r.arrived[inbox][id], time.Now())
	r.mu.Unlock()
	<-time.After(answerTakes) // virtual time, because the test runs inside testing/synctest
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("ok"))}
}

func (r *receivers) times(inbox string) []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []time.Time
	for _, times := range r.arrived[inbox] {
		all = append(all, times...)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

func (r *receivers) checkDelay(t *testing.T, when, id string, sent time.Time, most time.Duration) {
	t.Helper()
	times := r.arrived["birch"][id]
	if len(times) != 1 {
		t.Errorf("the other customer's event %s arrived %d times", when, len(times))
		return
	}
	delay := times[0].Sub(sent)
	t.Logf("the other customer's event %s took %s", when, delay)
	if delay > most {
		t.Errorf("the other customer's event %s took %s, want at most %s", when, delay, most)
	}
}

func (r *receivers) checkOnce(t *testing.T, n int) {
	t.Helper()
	if got := len(r.arrived["alder"]); got != n {
		t.Errorf("%d events arrived, want %d", got, n)
	}
	for id, times := range r.arrived["alder"] {
		if len(times) != 1 {
			t.Errorf("%s arrived %d times, at %v", id, len(times), times)
		}
	}
}

// checkRate checks that no interval contains more deliveries than allowed. In addition to the rate, checkRate allows
// for a burst of one second, two seconds of late deliveries, and the 1 in 500 deliveries that a process sends without
// checking the rate. Deliveries may be late, because message delays are in whole seconds and messages wait briefly in
// the queue.
func checkRate(t *testing.T, times []time.Time) {
	t.Helper()
	for _, span := range []time.Duration{0, time.Second, 2 * time.Second, 10 * time.Second, time.Minute} {
		worst, first := 0, 0
		for i, at := range times {
			for at.Sub(times[first]) > span {
				first++
			}
			worst = max(worst, i-first+1)
		}
		seconds := span.Seconds() + 3
		most := int(usualRate * seconds * (1 + 1.0/500))
		t.Logf("within %s: at most %d arrivals", span, worst)
		if worst > most+1 {
			t.Errorf("within %s there were %d arrivals, want at most %d", span, worst, most+1)
		}
	}
}

func (s state) tenantOf(nth int) org.Tenant {
	s.t.Helper()
	var inboxes []string
	for _, o := range s.seeded.Organisations {
		if o.WebhookURL == "" || slices.Contains(inboxes, o.WebhookURL) {
			continue
		}
		if inboxes = append(inboxes, o.WebhookURL); len(inboxes) <= nth {
			continue
		}
		return org.Tenant{Mode: org.Test, OrgID: o.ID}
	}
	s.t.Fatalf("there are only %d organisations with an inbox", len(inboxes))
	return org.Tenant{}
}

func (s *stack) announce(to org.Tenant, what webhook.Type, subject string, data any) string {
	s.t.Helper()
	event, err := webhook.NewEvent(to, what, ids.Derive(subject), 0, time.Now(), data)
	expect.NoError(s.t, err)
	outputs := s.template.Outputs
	work := store.Work{DB: s.rows, Table: outputs["WorkTable"]}
	expect.NoError(s.t, store.Events(work).CreateEvent(s.t.Context(), event))
	enqueued := queue.NewDeliveries(sqs.NewFromConfig(s.cloud.Config("test")), outputs["DeliveryQueueUrl"])
	expect.NoError(s.t, enqueued.EnqueueEvent(s.t.Context(), to, event.ID))
	return event.ID
}

// deliverAlways polls the webhook worker's queue continuously and runs the sweeper every minute, until stop is called.
func deliverAlways(s *stack) (stop func()) {
	s.t.Helper()
	var worker template.Function
	for _, f := range s.template.Functions {
		if f.Folder == "webhookworker" {
			worker = f
		}
	}
	ended := make(chan struct{})
	var running sync.WaitGroup
	every := func(wait time.Duration, work func()) {
		running.Go(func() {
			for {
				select {
				case <-ended:
					return
				case <-time.After(wait):
					work()
				}
			}
		})
	}
	for range bulkPollers {
		every(batchTakes, func() { s.queues.deliver(worker, worker.QueueTriggers[0]) })
	}
	every(time.Minute, s.clock.sweep)
	return func() {
		close(ended)
		running.Wait()
	}
}
