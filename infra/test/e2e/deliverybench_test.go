package e2e_test

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"recordbridge/infra/local/template"
	"recordbridge/infra/local/triggers"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const (
	// benchedTenants is the number of tenants in the benchmark. Each tenant has its own webhook at the receiver so that
	// an endpoint's rate limit never affects the measurement.
	benchedTenants = 8
	benchedRate    = 1000
	// benchedBatch is the number of concurrent deliveries in a throughput measurement.
	benchedBatch = 1000
	// benchedBatches is the runner's limit on concurrent batches per queue. BenchmarkDeliveryCalls uses the same
	// concurrency.
	benchedBatches = 4
)

// deliveries benchmarks the webhook worker in this process, with the embedded AWS, the runner's triggers and a receiver
// on a local socket.
type deliveries struct {
	b        *testing.B
	stack    *stack
	rows     store.Webhooks
	enqueued queue.Deliveries
	tenants  []org.Tenant
	receiver *httptest.Server
	calls    atomic.Int64 // AWS calls made by the worker
	serve    invocation

	mu      sync.Mutex
	arrived map[string]time.Time // arrival times by webhook-id header
	each    chan struct{}
}

func newDeliveries(b *testing.B) *deliveries {
	b.Helper()
	d := &deliveries{
		b: b, stack: newStack(b, options{}), arrived: map[string]time.Time{},
		each: make(chan struct{}, benchedBatch),
	}
	d.receiver = httptest.NewServer(http.HandlerFunc(d.receive))
	b.Cleanup(d.receiver.Close)
	cfg, outputs := d.stack.cloud.Config("test"), d.stack.template.Outputs
	db := dynamodb.NewFromConfig(cfg)
	d.rows = store.NewWebhooks(
		store.Work{DB: db, Table: outputs["WorkTable"]},
		store.Control{DB: db, Table: outputs["ControlTable"]},
	)
	d.enqueued = queue.NewDeliveries(sqs.NewFromConfig(cfg), outputs["DeliveryQueueUrl"])
	vault := kms.New(awskms.NewFromConfig(cfg), kms.SecretsKey(outputs["SecretsKey"]), webhook.SecretPurpose, time.Now)
	editor := webhook.Editor{
		Own: ownhosts.Own(), Vault: vault,
		Reach: safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, Random: rand.Reader,
		Now: time.Now,
	}
	for range benchedTenants {
		tenant := org.Tenant{Mode: org.Test, OrgID: ids.Random()}
		subscription, _, err := editor.Create(b.Context(),
			webhook.Draft{ID: ids.Random(), Tenant: tenant, URL: d.receiver.URL, Rate: benchedRate})
		expect.NoError(b, err)
		expect.NoError(b, d.rows.CreateSubscription(b.Context(), subscription))
		d.tenants = append(d.tenants, tenant)
	}
	return d
}

func (d *deliveries) Invoke(ctx context.Context, _ string, payload []byte) ([]byte, error) {
	return d.serve(ctx, payload)
}

func (d *deliveries) receive(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	d.mu.Lock()
	d.arrived[r.Header.Get("Webhook-Id")] = time.Now()
	d.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
	d.each <- struct{}{}
}

func (d *deliveries) worker() template.Function {
	all := d.stack.template.Functions
	return all[slices.IndexFunc(all, func(f template.Function) bool { return f.Folder == "webhookworker" })]
}

// unkept is a log writer that discards all lines. With io.Discard, the logger would skip the formatting of lines, which
// takes time in production.
type unkept struct{ io.Writer }

func (d *deliveries) start() {
	d.b.Helper()
	f := d.worker()
	cfg := d.stack.cloud.Config(f.LogicalID)
	cfg.HTTPClient = counting{&d.calls, d.stack.cloud}
	process := outbound.Process{
		Process: lambdarun.Process{
			AWS: cfg, Logger: slog.New(slog.NewJSONHandler(unkept{io.Discard}, nil)), Now: time.Now,
		},
		HTTP: safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	}
	var err error
	d.serve, err = builders()[f.Folder](d.b.Context(), func(name string) (string, bool) {
		value, ok := f.Environment[name]
		return value, ok
	}, process)
	expect.NoError(d.b, err)
	trigger := f.QueueTriggers[0]
	running := triggers.New(triggers.Options{
		Invoker: d, Region: "us-east-1", Account: "000000000000", NewID: ids.Random, Log: slog.New(slog.DiscardHandler),
		Sources: []triggers.Source{{
			Function: f.LogicalID, Queue: sqs.NewFromConfig(d.stack.cloud.Config(f.LogicalID)), QueueURL: trigger.QueueURL,
			QueueARN: trigger.QueueARN, BatchSize: trigger.BatchSize, Batches: benchedBatches, PartialFailures: true,
		}},
	})
	ctx, stop := context.WithCancel(d.b.Context())
	var ended sync.WaitGroup
	ended.Go(func() { running.Run(ctx) })
	d.b.Cleanup(func() {
		stop()
		ended.Wait()
	})
}

type counting struct {
	calls *atomic.Int64
	next  awssdk.HTTPClient
}

func (c counting) Do(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return c.next.Do(r)
}

// event creates an event for the nth tenant, modulo the number of tenants.
func (d *deliveries) event(n int) webhook.Event {
	d.b.Helper()
	event, err := webhook.NewEvent(d.tenants[n%len(d.tenants)], webhook.ExportSucceeded, ids.Random(), 0, time.Now(),
		webhook.ExportSuccess{
			DownloadLinks: []webhook.DownloadLink{{}}, OrgConnectionID: ids.Random(), TaskID: ids.Random(),
		})
	expect.NoError(d.b, err)
	return event
}

func (d *deliveries) await(n int) {
	d.b.Helper()
	late := time.After(2 * time.Minute)
	for range n {
		select {
		case <-d.each:
		case <-late:
			d.b.Fatal("not everything arrived")
		}
	}
}

// BenchmarkDeliveries measures throughput from the queue through the worker to the receiver, including storing the
// attempt's row.
func BenchmarkDeliveries(b *testing.B) {
	d := newDeliveries(b)
	d.start()
	var took, worked time.Duration
	total := 0
	for b.Loop() {
		b.StopTimer()
		waiting := make([]webhook.Event, benchedBatch)
		var writers errgroup.Group
		writers.SetLimit(benchedBatches)
		for i := range waiting {
			waiting[i] = d.event(i)
			writers.Go(func() error { return d.rows.CreateEvent(b.Context(), waiting[i]) })
		}
		expect.NoError(b, writers.Wait())
		b.StartTimer()
		began, before := time.Now(), processorTime(b)
		for _, e := range waiting {
			expect.NoError(b, d.enqueued.EnqueueEvent(b.Context(), e.Tenant, e.ID))
		}
		d.await(len(waiting))
		took += time.Since(began)
		worked += processorTime(b) - before
		total += len(waiting)
	}
	b.ReportMetric(float64(total)/took.Seconds(), "deliveries/s")
	b.ReportMetric(float64(d.calls.Load())/float64(total), "calls/delivery")
	b.ReportMetric(float64(worked.Microseconds())/float64(total), "cpu-µs/delivery")
}

// processorTime returns this process's CPU time, which is meaningful even on a busy machine.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	expect.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkDeliveryLatency measures the time from an event's creation to its receipt, at 50 events per second. The
// latency includes storing and enqueueing the event, and signing and posting the webhook. Each iteration takes a
// second.
func BenchmarkDeliveryLatency(b *testing.B) {
	d := newDeliveries(b)
	d.start()
	sent := map[string]time.Time{}
	send := func(n int) {
		e := d.event(n)
		sent[e.ID] = time.Now()
		expect.NoError(b, d.rows.CreateEvent(b.Context(), e))
		expect.NoError(b, d.enqueued.EnqueueEvent(b.Context(), e.Tenant, e.ID))
	}
	for n := range benchedTenants { // makes the worker decrypt each tenant's key before the measurement
		send(n)
	}
	d.await(benchedTenants)
	clear(sent)
	d.calls.Store(0)
	tick := time.NewTicker(time.Second / 50)
	defer tick.Stop()
	for b.Loop() {
		for n := range 50 {
			<-tick.C
			send(n)
		}
		d.await(50)
	}
	took := make([]time.Duration, 0, len(sent))
	for id, at := range sent {
		took = append(took, d.arrived[id].Sub(at))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(d.calls.Load())/float64(len(sent)), "calls/delivery")
}

// BenchmarkDeliveryCalls measures an upper bound on delivery throughput. The benchmark makes only the CreateEvent call
// and the five AWS calls for a first delivery to a busy endpoint, without the worker, the queue or the receiver.
func BenchmarkDeliveryCalls(b *testing.B) {
	d := newDeliveries(b)
	var made atomic.Int64
	b.SetParallelism(benchedBatches)
	began, before := time.Now(), processorTime(b)
	b.RunParallel(func(pb *testing.PB) {
		for n := 0; pb.Next(); n++ {
			e := d.event(n)
			// CreateEvent is included, because its cost is comparable to that of the other calls
			expect.NoError(b, d.rows.CreateEvent(b.Context(), e))
			if err := d.callsOf(b.Context(), e); err != nil {
				b.Error(err)
				return
			}
			made.Add(6)
		}
	})
	b.ReportMetric(float64(made.Load())/time.Since(began).Seconds(), "calls/s")
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(made.Load()), "cpu-µs/call")
}

func (d *deliveries) callsOf(ctx context.Context, e webhook.Event) error {
	if _, err := d.rows.Event(ctx, e.Tenant, e.ID); err != nil {
		return err
	}
	subscriptions, err := d.rows.Subscriptions(ctx, e.Tenant)
	if err != nil {
		return err
	}
	now := time.Now()
	to := subscriptions[0]
	if _, err := d.rows.ReserveSlot(ctx, e.Tenant, to.ID, to.Health.NextSlot, now, time.Second/benchedRate); err != nil {
		return err
	}
	delivery := webhook.Delivery{
		ID: ids.Derive("delivery", e.ID, to.ID), Tenant: e.Tenant, EventID: e.ID, SubscriptionID: to.ID,
		Status:  webhook.InFlight,
		Attempt: 1, Fence: 1, Trigger: webhook.ByClock, NextAt: now, LeaseUntil: now.Add(time.Minute),
		DueAt: now.Add(time.Minute), CreatedAt: now,
	}
	if err := d.rows.FanOut(ctx, e, []webhook.Delivery{delivery}); err != nil {
		return err
	}
	delivery.Status, delivery.DueAt = webhook.Delivered, time.Time{}
	return d.rows.RecordAttempt(ctx, delivery, webhook.Attempt{
		Number: 1, Trigger: webhook.ByClock, At: now, Status: http.StatusNoContent,
		RequestHeader: map[string]string{"Webhook-Id": e.ID, "Webhook-Timestamp": strconv.FormatInt(now.Unix(), 10)},
	})
}
