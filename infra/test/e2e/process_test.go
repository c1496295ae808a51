package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/runfile"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
)

// bigPersona's record takes long enough to collect that a worker can be met at it.
const bigPersona = "cedar-brook"

// lease is how long a killed worker's work stays with it.
const lease = "2s"

// runner is the real runner with the functions' real binaries, in processes of their own.
type runner struct {
	t       *testing.T
	address string
	dir     string
	command *exec.Cmd
	seeded  runfile.Run
	known   int // success events that an earlier export has led to
}

// binary builds the runner once for all tests of the package.
var binary = sync.OnceValues(func() (string, error) {
	file, err := filepath.Abs("../../../build/local-under-test")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-gcflags", "all=-dwarf=false", "-ldflags", "-s -w", "-tags", "lambda.norpc,grpcnotrace", "-o", file, "./infra/local")
	build.Dir, build.Stderr, build.Env = "../../..", os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	return file, build.Run()
})

func newRunner(t *testing.T) *runner {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	r := &runner{t: t, address: free.Addr().String(), dir: t.TempDir()}
	must(t, free.Close())
	r.start()
	t.Cleanup(func() { r.end(syscall.SIGTERM) })
	return r
}

// start starts the runner on its data and waits until it is ready.
func (r *runner) start() {
	r.t.Helper()
	file, err := binary()
	must(r.t, err)
	runFile := filepath.Join(r.dir, "run.json")
	_ = os.Remove(runFile)
	r.command = exec.Command(file, "-addr", r.address, "-data", filepath.Join(r.dir, "data"), "-run-file", runFile,
		"-param", "WorkerLease="+lease)
	var output bytes.Buffer
	r.known = 0 // the inbox is empty again
	r.command.Dir, r.command.Stdout, r.command.Stderr = "../../..", &output, &output
	must(r.t, r.command.Start())
	r.until("the runner is ready", func() bool {
		body, err := os.ReadFile(runFile)
		return err == nil && json.Unmarshal(body, &r.seeded) == nil
	})
}

func (r *runner) end(signal syscall.Signal) {
	_ = r.command.Process.Signal(signal)
	_ = r.command.Wait()
}

// until polls for something that has to come.
func (r *runner) until(what string, done func() bool) {
	r.t.Helper()
	late := time.After(4 * time.Minute) // the runner compiles every function first, perhaps with nothing in the build cache
	for !done() {
		select {
		case <-late:
			r.t.Fatalf("it never came that %s", what)
		case <-time.After(25 * time.Millisecond):
		}
	}
}

func (r *runner) do(request *http.Request) (*http.Response, error) {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return client.Do(request)
}

// post sends an empty POST to the console and returns what it said.
func (r *runner) post(path string) string {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://"+r.address+"/_local/api/functions"+path, nil)
	must(r.t, err)
	response, err := r.do(request)
	must(r.t, err)
	defer func() { _ = response.Body.Close() }()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	must(r.t, err)
	return body.String()
}

func (r *runner) json(path string, into any) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.address+path, nil)
	must(r.t, err)
	response, err := r.do(request)
	must(r.t, err)
	defer func() { _ = response.Body.Close() }()
	must(r.t, json.NewDecoder(response.Body).Decode(into))
}

// pages is how many requests the sandbox has answered.
func (r *runner) pages() int {
	r.t.Helper()
	var state struct {
		Functions []struct {
			ID          string `json:"id"`
			Invocations int    `json:"invocations"`
		} `json:"functions"`
	}
	r.json("/_local/api/state", &state)
	for _, f := range state.Functions {
		if f.ID == "SandboxEhrFunction" {
			return f.Invocations
		}
	}
	r.t.Fatal("there is no sandbox")
	return 0
}

// collecting waits until the export that begin has asked for is being collected, or has ended already.
func (r *runner) collecting(from int) {
	r.t.Helper()
	r.until("the record is being collected", func() bool {
		return r.pages() > from+8 || len(r.successes()) > 0
	})
}

// begin connects the big persona and asks for its export. It returns how many requests the sandbox had answered then.
func (r *runner) begin() int {
	r.t.Helper()
	r.known += len(r.successes())
	b := &browser{t: r.t, do: r.do, cookies: map[string]string{}}
	_, last := b.open(connectURL(r.seeded), bigPersona, "approve")
	before := r.pages()
	body, err := json.Marshal(map[string]string{"org_connection_id": last.Query().Get("org_connection_id")})
	must(r.t, err)
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.seeded.BaseURL+"/bridge/fhir/ehi-export", bytes.NewReader(body))
	must(r.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.SetBasicAuth(r.seeded.Organisations[0].PublicID, r.seeded.Organisations[0].PrivateKey)
	response, err := r.do(request)
	must(r.t, err)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		r.t.Fatalf("POST ehi-export answered %d", response.StatusCode)
	}
	return before
}

// successes are the success events that the first organisation's inbox holds since begin.
func (r *runner) successes() []inbox.Delivery {
	r.t.Helper()
	var all, found []inbox.Delivery
	r.json("/_local/inbox/alder", &all)
	for _, d := range all {
		if strings.Contains(d.Body, `"type":"patient.ehi_export_success"`) {
			found = append(found, d)
		}
	}
	return found[r.known:]
}

// recover fires the sweeper's schedule by hand until an export has succeeded.
func (r *runner) recover() inbox.Delivery {
	r.t.Helper()
	r.until("the export succeeds", func() bool {
		r.post("/SweeperFunction/fire")
		return len(r.successes()) > 0
	})
	return r.successes()[0]
}

func (r *runner) checkTotal(d inbox.Delivery) {
	r.t.Helper()
	for _, p := range r.seeded.Sandbox.Personas {
		if p.ID == bigPersona && !strings.Contains(d.Body, `"total_resources":`+strconv.Itoa(p.Resources)+`,`) {
			r.t.Errorf("the event does not count %d resources: %.300s", p.Resources, d.Body)
		}
	}
}

// TestProcessesThatAreKilledAreReplaced: of one service, with its data, first an export worker in the middle of a record, then
// the whole runner, then a webhook worker after its post.
func TestProcessesThatAreKilledAreReplaced(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.killWorker()
	r.killRunner()
	r.killSender()
}

// killWorker kills an export worker in the middle of a record, which is then exported whole.
func (r *runner) killWorker() {
	r.t.Helper()
	killed := false
	for range 10 {
		r.collecting(r.begin())
		r.post("/ExportWorkerFunction/kill")
		if killed = len(r.successes()) == 0; killed {
			break
		}
		r.end(syscall.SIGKILL) // too late: with an empty inbox, once more
		r.start()
	}
	if !killed {
		r.t.Fatal("the worker was always done before it could be killed")
	}
	r.checkTotal(r.recover())
}

// killRunner kills the runner in the middle of a record, which the next one exports whole from the data.
func (r *runner) killRunner() {
	r.t.Helper()
	r.collecting(r.begin())
	r.end(syscall.SIGKILL)
	r.start()
	done := r.recover()
	r.checkTotal(done)
	r.checkDownload(done)
}

// checkDownload: the file can be fetched, and asked about, by a client that sends the key along and takes it to no other host and
// port, such as curl -L -u. A client that does take it on is refused as by S3, which accepts one proof.
func (r *runner) checkDownload(d inbox.Delivery) {
	r.t.Helper()
	var e struct {
		Data struct {
			Links []struct{ URL string } `json:"download_links"`
		}
	}
	must(r.t, json.Unmarshal([]byte(d.Body), &e))
	own := r.seeded.Organisations[0]
	ask := func(method, address string, withKey bool) (status int, location string) {
		request, err := http.NewRequestWithContext(r.t.Context(), method, address, nil)
		must(r.t, err)
		if withKey {
			request.SetBasicAuth(own.PublicID, own.PrivateKey)
		}
		response, err := r.do(request)
		must(r.t, err)
		must(r.t, response.Body.Close())
		return response.StatusCode, response.Header.Get("Location")
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		link, err := url.Parse(e.Data.Links[0].URL)
		must(r.t, err)
		_, location := ask(method, link.String(), true)
		file, err := url.Parse(location)
		must(r.t, err)
		if file.Host == link.Host {
			r.t.Errorf("%s leads from %s to the same host and port", method, link.Host)
		}
		for withKey, want := range map[bool]int{false: http.StatusOK, true: http.StatusBadRequest} {
			if got, _ := ask(method, location, withKey); got != want {
				r.t.Errorf("%s of the file, with the key as well %v: %d, want %d", method, withKey, got, want)
			}
		}
	}
}

// killSender kills the webhook worker after its post: the same is posted again.
func (r *runner) killSender() {
	r.t.Helper()
	var mu sync.Mutex
	posts := map[string][]string{} // bodies by webhook-id
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, in *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(in.Body)
		if !strings.Contains(body.String(), `"type":"patient.ehi_export_success"`) {
			return
		}
		mu.Lock()
		id := in.Header.Get("Webhook-Id")
		posts[id] = append(posts[id], body.String())
		first := len(posts[id]) == 1
		mu.Unlock()
		if first {
			r.post("/WebhookWorkerFunction/kill") //nolint:contextcheck // the request dies with the worker; the kill must not
		}
	}))
	defer receiver.Close()
	r.subscribe(receiver.URL)
	r.begin()
	r.until("the same event is posted again", func() bool {
		r.post("/SweeperFunction/fire")
		mu.Lock()
		defer mu.Unlock()
		for _, bodies := range posts {
			if len(bodies) > 1 {
				return true
			}
		}
		return false
	})
	mu.Lock()
	defer mu.Unlock()
	for id, bodies := range posts {
		if len(posts) != 1 || bodies[0] != bodies[1] {
			r.t.Errorf("event %s was posted %d times, with equal bodies: %t; there are %d ids", id, len(bodies), bodies[0] == bodies[1], len(posts))
		}
	}
}

// subscribe adds a webhook to the first organisation from outside, as the operator's command line does on any stack.
func (r *runner) subscribe(url string) {
	r.t.Helper()
	here := r.seeded.AWS
	o, err := wiring.Open(r.t.Context(), awssdk.Config{
		Region: here.Region, BaseEndpoint: &here.EndpointURL,
		Credentials: credentials.NewStaticCredentialsProvider(here.AccessKeyID, here.SecretAccessKey, ""),
	}, here.Outputs, wiring.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "test"})
	must(r.t, err)
	var shown struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	r.json("/v1/bridge/org?public_id="+r.seeded.Organisations[0].PublicID, &shown)
	_, _, err = o.CreateWebhook(context.WithoutCancel(r.t.Context()), org.Tenant{Mode: org.Test, OrgID: shown.Data.ID}, url, nil)
	must(r.t, err)
}
