package recordbridge_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	recordbridge "recordbridge/infra/sdk/go"
)

// id is the ID of every record in tests.
const id = "00000000-0000-4000-8000-000000000001"

// serve starts a server that ends with the test. The handler gets the number of earlier requests.
func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, count int)) string {
	t.Helper()
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		handle(w, r, int(count.Add(1)-1))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// pauses records pauses instead of waiting.
type pauses struct {
	mutex sync.Mutex
	list  []time.Duration
}

func (p *pauses) add(_ context.Context, duration time.Duration) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.list = append(p.list, duration)
	return nil
}

// clientOf returns a client that records its pauses.
func clientOf(t *testing.T, base string) (*recordbridge.Client, *pauses) {
	t.Helper()
	recorded := &pauses{}
	client, err := recordbridge.New(recordbridge.Options{
		BaseURL: base, PublicID: "public_test_1", PrivateKey: "key", Pause: recorded.add,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, recorded
}

// respond writes a JSON response.
func respond(w http.ResponseWriter, status int, body any) {
	content, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(content)
}

// success wraps data as the API does.
func success(data any) any {
	return map[string]any{"success": true, "data": data}
}

// hangUp breaks the connection.
func hangUp(http.ResponseWriter) {
	panic(http.ErrAbortHandler)
}
