package process_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// bigPersona has a record large enough for the test to kill the worker during the export.
const bigPersona = "cedar-brook"

// lease is the duration of a worker's lease on a task. A killed worker's lease must expire before another worker can
// claim the task.
const lease = "1s"

// life is a service with stored data, whose processes the test kills.
type life struct {
	*runner

	known int // number of success events from earlier exports
}

// TestKilledProcessesAreReplaced kills an export worker during an export, then the whole runner, and finally a webhook
// worker after its POST. After each kill, the interrupted work must be completed.
func TestKilledProcessesAreReplaced(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	l := &life{runner: newRunner(t, "-data", filepath.Join(t.TempDir(), "data"), "-param", "WorkerLease="+lease)}
	l.killWorker()
	l.killRunner()
	l.killSender()
}

// restart kills the runner and starts it again with an empty inbox.
func (l *life) restart() {
	l.t.Helper()
	l.end(syscall.SIGKILL)
	l.known = 0
	l.start()
}

// pages returns the number of requests that the sandbox has served so far.
func (l *life) pages() int {
	l.t.Helper()
	var state struct {
		Functions []struct {
			ID          string `json:"id"`
			Invocations int    `json:"invocations"`
		} `json:"functions"`
	}
	l.json("/_local/api/state", &state)
	for _, f := range state.Functions {
		if f.ID == "SandboxEhrFunction" {
			return f.Invocations
		}
	}
	l.t.Fatal("there is no sandbox")
	return 0
}

// collecting waits until the export requested by begin has started to read the record or has ended.
func (l *life) collecting(from int) {
	l.t.Helper()
	l.until("the record is being collected", func() bool {
		return l.pages() > from+8 || len(l.successes()) > 0
	})
}

// begin connects bigPersona, requests an export, and returns the sandbox's request count from before the export.
func (l *life) begin() int {
	l.t.Helper()
	l.known += len(l.successes())
	j := l.job(bigPersona)
	connectionID, err := j.Connect(l.t.Context())
	expect.NoError(l.t, err)
	before := l.pages()
	_, err = j.Request(l.t.Context(), connectionID)
	expect.NoError(l.t, err)
	return before
}

// successes returns the success events that have arrived in the first organisation's inbox since begin was called.
func (l *life) successes() []inbox.Delivery {
	l.t.Helper()
	var all, found []inbox.Delivery
	l.json("/_local/inbox/alder", &all)
	for _, d := range all {
		if strings.Contains(d.Body, `"type":"patient.ehi_export_success"`) {
			found = append(found, d)
		}
	}
	return found[l.known:]
}

// recover runs the sweeper until an export has succeeded.
func (l *life) recover() inbox.Delivery {
	l.t.Helper()
	l.until("the export succeeds", func() bool {
		l.function("/SweeperFunction/fire")
		return len(l.successes()) > 0
	})
	return l.successes()[0]
}

func (l *life) checkTotal(d inbox.Delivery) {
	l.t.Helper()
	for _, p := range l.seeded.Sandbox.Personas {
		if p.ID == bigPersona && !strings.Contains(d.Body, `"total_resources":`+strconv.Itoa(p.Resources)+`,`) {
			l.t.Errorf("the event does not count %d resources: %.300s", p.Resources, d.Body)
		}
	}
}

// killWorker kills an export worker during an export and checks that another process completes it.
func (l *life) killWorker() {
	l.t.Helper()
	killed := false
	for range 10 {
		l.collecting(l.begin())
		l.function("/ExportWorkerFunction/kill")
		if killed = len(l.successes()) == 0; killed {
			break
		}
		l.restart() // the export ended before the kill; try again with an empty inbox
	}
	if !killed {
		l.t.Fatal("the worker was always done before it could be killed")
	}
	l.checkTotal(l.recover())
}

// killRunner kills the runner during an export and checks that the next runner completes the export from the stored
// data.
func (l *life) killRunner() {
	l.t.Helper()
	l.collecting(l.begin())
	l.restart()
	done := l.recover()
	l.checkTotal(done)
	l.checkDownload(done)
}

// checkDownload requests the file with GET and HEAD as curl -L -u does, sending the key only to the original host and
// port. A request that forwards the key must be rejected because S3 accepts only one kind of authentication per
// request.
func (l *life) checkDownload(d inbox.Delivery) {
	l.t.Helper()
	var e struct {
		Data struct {
			Links []struct{ URL string } `json:"download_links"`
		}
	}
	expect.NoError(l.t, json.Unmarshal([]byte(d.Body), &e))
	own := l.seeded.Organisations[0]
	ask := func(method, address string, withKey bool) (status int, location string) {
		request, err := http.NewRequestWithContext(l.t.Context(), method, address, nil)
		expect.NoError(l.t, err)
		if withKey {
			request.SetBasicAuth(own.PublicID, own.PrivateKey)
		}
		response, err := l.client.Do(request)
		expect.NoError(l.t, err)
		expect.NoError(l.t, response.Body.Close())
		return response.StatusCode, response.Header.Get("Location")
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		link, err := url.Parse(e.Data.Links[0].URL)
		expect.NoError(l.t, err)
		_, location := ask(method, link.String(), true)
		file, err := url.Parse(location)
		expect.NoError(l.t, err)
		if file.Host == link.Host {
			l.t.Errorf("%s leads from %s to the same host and port", method, link.Host)
		}
		for withKey, want := range map[bool]int{false: http.StatusOK, true: http.StatusBadRequest} {
			if got, _ := ask(method, location, withKey); got != want {
				l.t.Errorf("%s of the file, with the key as well %v: %d, want %d", method, withKey, got, want)
			}
		}
	}
}

// killSender kills the webhook worker after its POST and checks that the next worker posts the same body.
func (l *life) killSender() {
	l.t.Helper()
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
			//nolint:contextcheck // the request dies with the worker; the kill must not
			l.function("/WebhookWorkerFunction/kill")
		}
	}))
	defer receiver.Close()
	l.subscribe(receiver.URL)
	l.begin()
	l.until("the same event is posted again", func() bool {
		l.function("/SweeperFunction/fire")
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
			l.t.Errorf("event %s was posted %d times, with equal bodies: %t; there are %d ids", id, len(bodies),
				bodies[0] == bodies[1], len(posts))
		}
	}
}

// subscribe adds a webhook to the first organisation by writing to the runner's tables directly, as the operator's
// command-line tool does.
func (l *life) subscribe(url string) {
	l.t.Helper()
	here := l.seeded.AWS
	o, err := wiring.Open(l.t.Context(), awssdk.Config{
		Region: here.Region, BaseEndpoint: &here.EndpointURL,
		Credentials: credentials.NewStaticCredentialsProvider(here.AccessKeyID, here.SecretAccessKey, ""),
	}, here.Outputs, wiring.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "test"})
	expect.NoError(l.t, err)
	tenant := org.Tenant{Mode: org.Test, OrgID: l.seeded.Organisations[0].ID}
	_, _, err = o.Webhooks.Create(context.WithoutCancel(l.t.Context()), webhook.Draft{Tenant: tenant, URL: url})
	expect.NoError(l.t, err)
}
