package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"recordbridge/infra/local/runfile"
)

// benched is a runner with real binaries, in memory, as make run starts it.
type benched struct {
	b       *testing.B
	command *exec.Cmd
	seeded  runfile.Run
	took    time.Duration // from its start to its run file
	client  http.Client
}

func startBenched(b *testing.B) *benched {
	b.Helper()
	file, err := binary()
	must(b, err)
	free, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	must(b, err)
	address := free.Addr().String()
	must(b, free.Close())
	r := &benched{b: b, client: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	runFile := filepath.Join(b.TempDir(), "run.json")
	r.command = exec.Command(file, "-addr", address, "-run-file", runFile,
		"-param", "KeyedRequestsPerMinute=1000000", "-param", "BrowserRequestsPerMinute=1000000", "-param", "ConnectRequestsPerMinute=1000000")
	r.command.Dir, r.command.Stdout, r.command.Stderr = "../../..", io.Discard, io.Discard
	began := time.Now()
	must(b, r.command.Start())
	b.Cleanup(func() {
		_ = r.command.Process.Signal(syscall.SIGTERM)
		_ = r.command.Wait()
	})
	for late := time.After(5 * time.Minute); ; {
		body, err := os.ReadFile(runFile)
		if err == nil && json.Unmarshal(body, &r.seeded) == nil {
			r.took = time.Since(began)
			return r
		}
		select {
		case <-late:
			b.Fatal("the runner did not get ready")
		case <-time.After(time.Millisecond):
		}
	}
}

func (r *benched) get(address string) {
	r.b.Helper()
	request, err := http.NewRequestWithContext(r.b.Context(), http.MethodGet, address, nil)
	must(r.b, err)
	response, err := r.client.Do(request)
	must(r.b, err)
	_, err = io.Copy(io.Discard, response.Body)
	must(r.b, err)
	must(r.b, response.Body.Close())
}

// BenchmarkRunnerStart is the time from the start of the built runner to its run file: everything is created and seeded.
func BenchmarkRunnerStart(b *testing.B) {
	startBenched(b) // builds what has to be built
	var total time.Duration
	for b.Loop() {
		total += startBenched(b).took
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/start")
}

// BenchmarkFirstAnswer is a request that starts its function's process.
func BenchmarkFirstAnswer(b *testing.B) {
	r := startBenched(b)
	console := strings.TrimSuffix(r.seeded.BaseURL, "/v1") + "/_local/api/functions/GetOrgFunction/kill"
	for b.Loop() {
		b.StopTimer()
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, console, nil)
		must(b, err)
		response, err := r.client.Do(request)
		must(b, err)
		must(b, response.Body.Close())
		b.StartTimer()
		r.get(r.seeded.BaseURL + "/bridge/org?public_id=" + r.seeded.Organisations[0].PublicID)
	}
}

// BenchmarkWarmRequest is a request to a process that is there: gateway, Lambda runtime, two DynamoDB calls at most.
func BenchmarkWarmRequest(b *testing.B) {
	r := startBenched(b)
	address := r.seeded.BaseURL + "/bridge/org?public_id=" + r.seeded.Organisations[0].PublicID
	r.get(address)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		r.get(address)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkMainJob is the main job of a small record: connect, export, webhook, download, over HTTP and warm.
func BenchmarkMainJob(b *testing.B) {
	r := startBenched(b)
	seen := 0
	for b.Loop() {
		patient := &browser{t: b, do: r.client.Do, cookies: map[string]string{}}
		_, last := patient.open(connectURL(r.seeded), "alder-maple", "approve")
		body, err := json.Marshal(map[string]string{"org_connection_id": last.Query().Get("org_connection_id")})
		must(b, err)
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, r.seeded.BaseURL+"/bridge/fhir/ehi-export", bytes.NewReader(body))
		must(b, err)
		request.Header.Set("Content-Type", "application/json")
		request.SetBasicAuth(r.seeded.Organisations[0].PublicID, r.seeded.Organisations[0].PrivateKey)
		response, err := r.client.Do(request)
		must(b, err)
		must(b, response.Body.Close())
		link := ""
		for link == "" {
			link, seen = r.link(seen)
		}
		if file, _ := patient.open(link, "", ""); file.status != http.StatusOK {
			b.Fatalf("the file answered %d", file.status)
		}
	}
}

// link returns the download link of the newest success event once there are more of them than seen.
func (r *benched) link(seen int) (link string, now int) {
	r.b.Helper()
	request, err := http.NewRequestWithContext(r.b.Context(), http.MethodGet, r.seeded.Organisations[0].WebhookURL, nil)
	must(r.b, err)
	response, err := r.client.Do(request)
	must(r.b, err)
	defer func() { _ = response.Body.Close() }()
	var received []struct {
		Body string `json:"body"`
	}
	must(r.b, json.NewDecoder(response.Body).Decode(&received))
	for _, d := range received {
		var e struct {
			Type string     `json:"type"`
			Data exportData `json:"data"`
		}
		must(r.b, json.Unmarshal([]byte(d.Body), &e))
		if e.Type == "patient.ehi_export_success" {
			now++
			link = e.Data.DownloadLinks[0].URL
		}
	}
	if now <= seen {
		return "", seen
	}
	return link, now
}
