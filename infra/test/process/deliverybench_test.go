package process_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const (
	// benchedTenants is the number of tenants in the benchmark. Each tenant has its own webhook, so the delivery rate
	// per endpoint doesn't limit the measurement.
	benchedTenants = 8
	benchedRate    = 1000
	// burst is the number of events created by burstWriters concurrent writers.
	burst, burstWriters = 5000, 16
)

// deliveries holds a runner, its webhook receiver, and the clients that write events.
type deliveries struct {
	b        *testing.B
	runner   *runner
	rows     store.Webhooks
	enqueued queue.Deliveries
	editor   webhook.Editor
	receiver *httptest.Server

	mu      sync.Mutex
	sent    map[string]time.Time            // sending times by event ID
	arrived map[string]map[string]time.Time // time of the first arrival, by path and event ID
	each    chan struct{}
}

func newDeliveries(b *testing.B) *deliveries {
	b.Helper()
	d := &deliveries{
		b: b, runner: startBenched(b), sent: map[string]time.Time{}, arrived: map[string]map[string]time.Time{},
		each: make(chan struct{}, 2*burst),
	}
	d.receiver = httptest.NewServer(http.HandlerFunc(d.receive))
	b.Cleanup(d.receiver.Close)
	stack := d.runner.seeded.AWS
	cfg := awssdk.Config{
		Region: stack.Region, BaseEndpoint: &stack.EndpointURL,
		Credentials: credentials.NewStaticCredentialsProvider(stack.AccessKeyID, stack.SecretAccessKey, ""),
		HTTPClient:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: burstWriters}},
	}
	db := dynamodb.NewFromConfig(cfg)
	d.rows = store.NewWebhooks(
		store.Work{DB: db, Table: stack.Outputs["WorkTable"]},
		store.Control{DB: db, Table: stack.Outputs["ControlTable"]},
	)
	d.enqueued = queue.NewDeliveries(sqs.NewFromConfig(cfg), stack.Outputs["DeliveryQueueUrl"])
	vault := kms.New(awskms.NewFromConfig(cfg), kms.SecretsKey(stack.Outputs["SecretsKey"]), webhook.SecretPurpose,
		time.Now)
	d.editor = webhook.Editor{
		Own: ownhosts.Own(), Vault: vault,
		Reach: safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, Random: rand.Reader,
		Now: time.Now,
	}
	return d
}

// receive responds immediately, except to requests for /hang, to which it never responds.
func (d *deliveries) receive(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if r.URL.Path == "/hang" {
		<-r.Context().Done()
		return
	}
	d.mu.Lock()
	if d.arrived[r.URL.Path] == nil {
		d.arrived[r.URL.Path] = map[string]time.Time{}
	}
	event := r.Header.Get("Webhook-Id")
	_, again := d.arrived[r.URL.Path][event]
	if !again {
		d.arrived[r.URL.Path][event] = time.Now()
	}
	d.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
	if !again {
		d.each <- struct{}{}
	}
}

// organisation creates an organisation with one webhook for each of the receiver's paths.
func (d *deliveries) organisation(paths ...string) org.Tenant {
	d.b.Helper()
	tenant := org.Tenant{Mode: org.Test, OrgID: ids.Random()}
	for _, path := range paths {
		s, _, err := d.editor.Create(d.b.Context(),
			webhook.Draft{ID: ids.Random(), Tenant: tenant, URL: d.receiver.URL + path, Rate: benchedRate})
		expect.NoError(d.b, err)
		expect.NoError(d.b, d.rows.CreateSubscription(d.b.Context(), s))
	}
	return tenant
}

// organisations creates the throughput benchmarks' organisations and warms the worker's cache of their keys.
func (d *deliveries) organisations() []org.Tenant {
	d.b.Helper()
	all := make([]org.Tenant, benchedTenants)
	for i := range all {
		all[i] = d.organisation(fmt.Sprintf("/%d", i))
	}
	for n := range 20 * benchedTenants {
		expect.NoError(d.b, d.announce(all[n%len(all)]))
	}
	d.await(20 * benchedTenants)
	return all
}

// announce stores and enqueues an event, as production code does.
func (d *deliveries) announce(to org.Tenant) error {
	event, err := webhook.NewEvent(to, webhook.ExportSucceeded, ids.Random(), 0, time.Now(), webhook.ExportSuccess{
		DownloadLinks: []webhook.DownloadLink{{}}, OrgConnectionID: ids.Random(), TaskID: ids.Random(),
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.sent[event.ID] = time.Now()
	d.mu.Unlock()
	if err := d.rows.CreateEvent(d.b.Context(), event); err != nil {
		return err
	}
	return d.enqueued.EnqueueEvent(d.b.Context(), to, event.ID)
}

func (d *deliveries) await(n int) {
	d.b.Helper()
	late := time.After(2 * time.Minute)
	for i := range n {
		select {
		case <-d.each:
		case <-late:
			d.b.Fatalf("%d of %d arrived", i, n)
		}
	}
}

// report reports percentiles of the delay between sending an event and first receiving it, across all paths.
func (d *deliveries) report(name string, paths ...string) {
	d.b.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	var took []time.Duration
	for _, path := range paths {
		for event, at := range d.arrived[path] {
			took = append(took, at.Sub(d.sent[event]))
		}
	}
	slices.Sort(took)
	d.b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, name+"p50-ms")
	d.b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, name+"p99-ms")
}

func (d *deliveries) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.sent)
	clear(d.arrived)
}

func (d *deliveries) paths() []string {
	paths := make([]string, benchedTenants)
	for i := range paths {
		paths[i] = fmt.Sprintf("/%d", i)
	}
	return paths
}

// BenchmarkDeliveryBurst measures how long it takes to deliver a burst of events from many writers. The benchmark also
// reports throughput and the CPU time per event, for the worker's processes and for the runner (embedded AWS and
// Lambda).
func BenchmarkDeliveryBurst(b *testing.B) {
	d := newDeliveries(b)
	tenants := d.organisations()
	var took, worker, runner time.Duration
	for b.Loop() {
		d.forget()
		began, workerBefore, runnerBefore := time.Now(), d.runner.worked("webhookworker"), d.runner.worked("")
		var writers errgroup.Group
		writers.SetLimit(burstWriters)
		for n := range burst {
			writers.Go(func() error { return d.announce(tenants[n%len(tenants)]) })
		}
		expect.NoError(b, writers.Wait())
		d.await(burst)
		took += time.Since(began)
		worker += d.runner.worked("webhookworker") - workerBefore
		runner += d.runner.worked("") - runnerBefore
	}
	n := float64(b.N) * burst
	b.ReportMetric(n/took.Seconds(), "deliveries/s")
	b.ReportMetric(float64(worker.Microseconds())/n, "worker-cpu-µs/delivery")
	b.ReportMetric(float64(runner.Microseconds())/n, "runner-cpu-µs/delivery")
	d.report("", d.paths()...)
}

// BenchmarkDeliveryLatencyAtSteadyRate measures the delay between an event and its receipt at 50 events per second.
// Each iteration takes ten seconds.
func BenchmarkDeliveryLatencyAtSteadyRate(b *testing.B) {
	d := newDeliveries(b)
	tenants := d.organisations()
	d.forget()
	tick := time.NewTicker(time.Second / 50)
	defer tick.Stop()
	for b.Loop() {
		for n := range 500 {
			<-tick.C
			expect.NoError(b, d.announce(tenants[n%len(tenants)]))
		}
		d.await(500)
	}
	d.report("", d.paths()...)
}

// BenchmarkDeliveryWithHangingReceiver measures delivery latency while another webhook, which never responds, gets 20
// events per second. The benchmark covers a second webhook in the same organisation and a webhook in another
// organisation. Each iteration takes twenty seconds.
func BenchmarkDeliveryWithHangingReceiver(b *testing.B) {
	d := newDeliveries(b)
	one, other := d.organisation("/hang", "/sibling"), d.organisation("/other")
	tick := time.NewTicker(time.Second / 20)
	defer tick.Stop()
	for b.Loop() {
		for range 400 {
			<-tick.C
			expect.NoError(b, d.announce(one))
			expect.NoError(b, d.announce(other))
		}
		d.await(800)
	}
	d.report("sibling-", "/sibling")
	d.report("other-", "/other")
	d.receiver.CloseClientConnections()
}

// worked returns the CPU time used so far by a function's processes, or by the runner if function is empty.
func (r *runner) worked(function string) time.Duration {
	r.t.Helper()
	if function == "" {
		return processorTime(r.command.Process.Pid)
	}
	var sum time.Duration
	processes, err := filepath.Glob("/proc/[0-9]*/exe")
	expect.NoError(r.t, err)
	for _, link := range processes {
		file, err := os.Readlink(link)
		if err != nil || filepath.Base(filepath.Dir(file)) != function {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		expect.NoError(r.t, err)
		if field(pid, 4) == strconv.Itoa(r.command.Process.Pid) {
			sum += processorTime(pid)
		}
	}
	return sum
}

// processorTime returns a process's CPU time. processorTime works only on Linux.
func processorTime(pid int) time.Duration {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on all Linux platforms that Go supports
	user, _ := strconv.Atoi(field(pid, 14))
	system, _ := strconv.Atoi(field(pid, 15))
	return time.Duration(user+system) * tick
}

// field returns field n of /proc/<pid>/stat, numbered as in proc(5), where n is at least 3. If the process has exited,
// field returns "".
func field(pid, n int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(stat), ") ")
	if err != nil || !ok {
		return ""
	}
	return strings.Fields(rest)[n-3]
}
