package process_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
)

// startBenched starts a runner without rate limits that, like `make run`, stores all data in memory.
func startBenched(b *testing.B) *runner {
	b.Helper()
	return newRunner(b, "-param", "KeyedRequestsPerMinute=1000000", "-param", "BrowserRequestsPerMinute=1000000",
		"-param", "ConnectRequestsPerMinute=1000000")
}

// BenchmarkRunnerStart measures the time until the compiled runner has created and seeded all resources and written its
// run file.
func BenchmarkRunnerStart(b *testing.B) {
	startBenched(b) // builds the binaries before measuring
	var total time.Duration
	for b.Loop() {
		total += startBenched(b).took
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/start")
}

// BenchmarkColdRequest measures a request that must start its function's process.
func BenchmarkColdRequest(b *testing.B) {
	r := startBenched(b)
	for b.Loop() {
		b.StopTimer()
		r.function("/GetOrgFunction/kill")
		b.StartTimer()
		r.send(http.MethodGet, r.seeded.BaseURL+"/bridge/org?public_id="+r.seeded.Organisations[0].PublicID)
	}
}

// BenchmarkWarmRequest measures a request to a running process. The request involves the gateway, the Lambda runtime
// and at most two DynamoDB calls.
func BenchmarkWarmRequest(b *testing.B) {
	r := startBenched(b)
	address := r.seeded.BaseURL + "/bridge/org?public_id=" + r.seeded.Organisations[0].PublicID
	r.send(http.MethodGet, address)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		r.send(http.MethodGet, address)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkMainJob measures the main job with a small record over HTTP: connect, export, webhook and download. All
// functions are warm.
func BenchmarkMainJob(b *testing.B) {
	r := startBenched(b)
	for b.Loop() {
		expect.NoError(b, r.job("alder-maple").Perform(b.Context()))
	}
}
