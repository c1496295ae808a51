package faults_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"recordbridge/infra/local/faults"
)

// journey returns an example of the calls in two invocations.
func journey() []faults.Call {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return []faults.Call{
		{Kind: "GetParameter", Reads: true, At: at, Turn: 1},
		{Kind: "GetItem", Reads: true, At: at, Turn: 1},
		{Kind: "UpdateItem", At: at, Turn: 1},
		{Kind: "Decrypt", Reads: true, At: at, Turn: 1},
		{Kind: "Query", Reads: true, At: at, Turn: 1},
		{Kind: "POST token", At: at, Turn: 1},
		{Kind: "GET Patient", At: at, Turn: 1},
		{Kind: "GetItem", Reads: true, At: at, Turn: 1},
		{Kind: "GetItem", Reads: true, At: at.Add(time.Second), Turn: 1},
		{Kind: "Query", Reads: true, At: at.Add(time.Second), Turn: 1},
		{Kind: "GetItem", Reads: true, At: at.Add(time.Second), Turn: 3},
		{Kind: "Query", Reads: true, At: at.Add(time.Second), Turn: 3},
		{Kind: "PutObject", At: at.Add(time.Second), Turn: 3},
		{Kind: "PutObject", At: at.Add(time.Second), Turn: 3},
	}
}

func TestPointsMergesConsecutiveReads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ wanted, want []int }{
		"every call": {
			[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
			// crashes at the start, and after each write, each request, the passage of time and the first call of the
			// next invocation
			[]int{1, 3, 6, 7, 9, 11, 13, 14},
		},
		"reads whose effect is not wanted itself": {[]int{5, 8}, []int{3, 7}},
		"one situation twice":                     {[]int{4, 5, 3}, []int{3}},
		"none":                                    {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := faults.Points(journey(), c.wanted); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestReadsOnlyReportsFalseForWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, target string
		want           bool
	}{
		{http.MethodPost, "DynamoDB_20120810.Query", true},
		{http.MethodPost, "TrentService.GenerateDataKey", true},
		{http.MethodPost, "DynamoDB_20120810.UpdateItem", false},
		{http.MethodPost, "DynamoDB_20120810.TransactWriteItems", false},
		{http.MethodPost, "AmazonSQS.SendMessage", false},
		{http.MethodPost, "AmazonSQS.ReceiveMessage", false},
		{http.MethodPost, "Unknown.GetEverything", false},
		{http.MethodGet, "", true},  // S3
		{http.MethodHead, "", true}, // S3
		{http.MethodPut, "", false},
		{http.MethodPost, "", false}, // POST without a target: S3's DeleteObjects, or SES
		{http.MethodDelete, "", false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://example.com/", http.NoBody)
		check(t, err)
		r.Header.Set("X-Amz-Target", c.target)
		if got := faults.ReadsOnly(r); got != c.want {
			t.Errorf("%s %s: %t", c.method, c.target, got)
		}
	}
}

func TestCallsAreRecordedUntilCrashIsCancelled(t *testing.T) {
	t.Parallel()
	life := faults.NewLife(10)
	way := life.Through(&world{}, func(r *http.Request) faults.Call { return faults.Call{Kind: r.Method} })
	life.MarkBoundary()
	first := ask(t, way)
	life.MarkBoundary()
	second := ask(t, way)
	life.Disarm()
	third := ask(t, way)
	if !first || !second || !third {
		t.Error("a call failed")
	}
	want := []faults.Call{{Kind: http.MethodGet, Turn: 1}, {Kind: http.MethodGet, Turn: 2}}
	if got := life.Recorded(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}
