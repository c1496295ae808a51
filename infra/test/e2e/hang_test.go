package e2e_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/template"
	"recordbridge/infra/local/triggers"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// laptopBatches is the runner's limit on concurrent invocations of a worker. On AWS, template.yaml sets the limit.
const laptopBatches = 4

// hangs simulates webhook receivers, some of which never respond.
type hangs struct {
	stack *stack

	mu      sync.Mutex
	sent    map[string]time.Time            // time at which each event was sent, by event ID
	arrived map[string]map[string]time.Time // time of the first arrival, by host and event ID
	posts   map[string]int
	hanging int
	most    int // highest number of requests hanging at the same time
}

// TestHangingReceiverDoesNotDelayOtherReceivers checks that a receiver that gets 20 events per second and never
// responds does not delay other receivers. Deliveries to another webhook of the same organisation, and to another
// organisation, must arrive within a second.
func TestHangingReceiverDoesNotDelayOtherReceivers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHangs(t)
		stop := h.start(laptopBatches)
		first, second := h.organisation("hang-1", "sibling"), h.organisation("other")
		const events = 100
		for n := range events {
			h.announce(first, n)
			if n%4 == 0 {
				h.announce(second, n)
			}
			<-time.After(time.Second / 20)
		}
		h.check(t, "sibling", events)
		h.check(t, "other", events/4)
		// A receiver gets 20 requests in the second before its webhook is classified as slow. Once the webhook has been
		// classified as slow, its receiver gets a burst of one second's requests, then as many as the limit of 50
		// allows.
		if n := h.posts["hang-1"]; n < 20 || n > 20+2+4*slowAtOnce/30+1 {
			t.Errorf("%d attempts at the receiver that hangs", n)
		}
		stop()
	})
}

// slowAtOnce is the maximum number of concurrent attempts at a slow webhook (docs/guide/webhooks.md, Retries).
const slowAtOnce = 50

// TestDeliveryToOtherReceiversContinuesWhenTwoHundredHang makes 200 receivers hang: 24 that belong to one organisation,
// and one each for many other organisations. The test uses the maximum number of workers allowed on AWS.
func TestDeliveryToOtherReceiversContinuesWhenTwoHundredHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHangs(t)
		stop := h.start(h.trigger().MaxConcurrency)
		hosts := make([]string, 25)
		hosts[0] = "sibling"
		for n := range hosts[1:] {
			hosts[1+n] = fmt.Sprintf("hang-%d", n)
		}
		one, other := h.organisation(hosts...), h.organisation("other")
		many := make([]org.Tenant, 200-24)
		for n := range many {
			many[n] = h.organisation(fmt.Sprintf("hang-of-%d", n))
		}
		for n, tenant := range many { // each message gets its own invocation until the concurrency limit is reached
			h.announce(tenant, n)
			if n%2 == 0 {
				h.announce(other, n)
			}
			if n%20 == 0 {
				h.announce(one, n)
			}
			<-time.After(time.Second / 20)
		}
		h.check(t, "sibling", (len(many)+19)/20)
		h.check(t, "other", len(many)/2)
		if h.most < 200 {
			t.Errorf("only %d attempts hung at the same time", h.most)
		}
		stop()
	})
}

func newHangs(t *testing.T) *hangs {
	t.Helper()
	h := &hangs{
		stack: newStack(t, options{}), sent: map[string]time.Time{}, arrived: map[string]map[string]time.Time{},
		posts: map[string]int{},
	}
	h.stack.intercept = h.answer
	return h
}

// answer responds for every receiver. A receiver whose host begins with "hang-" responds only after its caller has
// stopped waiting.
func (h *hangs) answer(r *http.Request) *http.Response {
	host, isReceiver := strings.CutSuffix(r.URL.Host, ".example")
	if !isReceiver {
		return nil
	}
	h.mu.Lock()
	h.posts[host]++
	event := r.Header.Get("Webhook-Id")
	if h.arrived[host] == nil {
		h.arrived[host] = map[string]time.Time{}
	}
	if _, again := h.arrived[host][event]; !again {
		h.arrived[host][event] = time.Now()
	}
	hangs := strings.HasPrefix(host, "hang-")
	if hangs {
		h.hanging++
		h.most = max(h.most, h.hanging)
	}
	h.mu.Unlock()
	if hangs {
		<-r.Context().Done()
		h.mu.Lock()
		h.hanging--
		h.mu.Unlock()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(late{r.Context()})}
}

// late is a response body that can't be read once the request has been cancelled.
type late struct{ ctx context.Context } //nolint:containedctx // it is the request's

func (l late) Read([]byte) (int, error) {
	if l.ctx.Err() != nil {
		return 0, errors.New("nobody waits any more")
	}
	return 0, io.EOF
}

func (h *hangs) organisation(hosts ...string) org.Tenant {
	s := h.stack
	s.t.Helper()
	cfg, outputs := s.cloud.Config("test"), s.template.Outputs
	tenant := org.Tenant{Mode: org.Test, OrgID: ids.Random()}
	vault := kms.New(awskms.NewFromConfig(cfg), kms.SecretsKey(outputs["SecretsKey"]), webhook.SecretPurpose, time.Now)
	hooks := store.Hooks{DB: dynamodb.NewFromConfig(cfg), Table: outputs["ControlTable"]}
	editor := webhook.Editor{
		Own: ownhosts.Own(), Vault: vault, Reach: safehttp.Options{}, Random: rand.Reader,
		Now: time.Now,
	}
	for _, host := range hosts {
		address := url.URL{Scheme: "https", Host: host + ".example", Path: "/hook"}
		subscription, _, err := editor.Create(s.t.Context(),
			webhook.Draft{ID: ids.Random(), Tenant: tenant, URL: address.String()})
		expect.NoError(s.t, err)
		expect.NoError(s.t, hooks.CreateSubscription(s.t.Context(), subscription))
	}
	return tenant
}

func (h *hangs) announce(to org.Tenant, n int) {
	h.stack.t.Helper()
	at := time.Now()
	id := h.stack.announce(to, webhook.TestEvent, to.OrgID+strconv.Itoa(n), webhook.Test{Hello: "world"})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent[id] = at
}

func (h *hangs) trigger() template.QueueTrigger {
	all := h.stack.template.Functions
	return all[slices.IndexFunc(all,
		func(f template.Function) bool { return f.Folder == "webhookworker" })].QueueTriggers[0]
}

// start delivers messages to the worker as Lambda does, with at most batches concurrent invocations, until stop is
// called.
func (h *hangs) start(batches int) (stop func()) {
	s, trigger := h.stack, h.trigger()
	running := triggers.New(triggers.Options{
		Invoker: s, Region: "us-east-1", Account: "000000000000", NewID: ids.Random, Log: slog.New(slog.DiscardHandler),
		Sources: []triggers.Source{{
			Function: "WebhookWorkerFunction", Queue: s.functions["WebhookWorkerFunction"].queue, QueueURL: trigger.QueueURL,
			QueueARN: trigger.QueueARN, BatchSize: trigger.BatchSize, Batches: batches, PartialFailures: trigger.PartialFailures,
		}},
	})
	ctx, cancel := context.WithCancel(s.t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { running.Run(ctx) })
	return func() {
		cancel()
		ended.Wait()
	}
}

// check requires that host received n events, each within a second of being sent.
func (h *hangs) check(t *testing.T, host string, n int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	took := make([]time.Duration, 0, n)
	for event, at := range h.arrived[host] {
		took = append(took, at.Sub(h.sent[event]))
	}
	if len(took) != n {
		t.Errorf("%s got %d events, want %d", host, len(took), n)
		return
	}
	if worst := slices.Max(took); worst >= time.Second {
		slices.Sort(took)
		t.Errorf("%s was told late: p50 %v, p99 %v, worst %v", host, took[n/2], took[n*99/100], worst)
	}
}
