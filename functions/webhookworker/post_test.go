package webhookworker_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/webhookworker"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
)

const receiver = "https://hooks.example/in"

type doer func(r *http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

type content struct {
	io.Reader

	read   int
	closed bool
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

func (c *content) Close() error {
	c.closed = true
	return nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// hanging is a body whose Read blocks until the context ends, like the real client's response body.
type hanging struct{ end <-chan struct{} }

func (h hanging) Read([]byte) (int, error) {
	<-h.end
	return 0, context.DeadlineExceeded
}

func answering(status int, body io.ReadCloser) doer {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: body}, nil
	}
}

func post(ctx context.Context, t *testing.T, client webhookworker.Doer, url string) webhook.Answer {
	t.Helper()
	answer, err := webhookworker.Poster{Client: client}.Post(ctx, url,
		map[string]string{"Webhook-Id": "e1", "Content-Type": "application/json"}, []byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestPostSendsBodyAndHeadersUnchanged(t *testing.T) {
	t.Parallel()
	client := doer(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if r.Method != http.MethodPost || r.URL.String() != receiver || string(body) != `{"a":1}` || r.ContentLength != 7 {
			t.Errorf("%s %s with %q (%d bytes)", r.Method, r.URL, body, r.ContentLength)
		}
		if diff := cmp.Diff(http.Header{"Webhook-Id": {"e1"}, "Content-Type": {"application/json"}}, r.Header); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		return answering(204, http.NoBody)(r)
	})
	if got := post(t.Context(), t, client, receiver); got.Status != 204 || len(got.Body) != 0 || got.Failure != "" {
		t.Errorf("got %+v", got)
	}
}

func TestPostReturnsEveryStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 204, 301, 302, 307, 400, 404, 410, 429, 500, 503} {
		body := &content{Reader: strings.NewReader("why")}
		got := post(t.Context(), t, answering(status, body), receiver)
		if diff := cmp.Diff(webhook.Answer{Status: status, Body: []byte("why")}, got); diff != "" || !body.closed {
			t.Errorf("closed: %t, answer (-want +got):\n%s", body.closed, diff)
		}
	}
}

func TestPostReadsAtMostTwoKibibytesOfResponse(t *testing.T) {
	t.Parallel()
	body := &content{Reader: io.LimitReader(zeros{}, 10<<20)}
	got := post(t.Context(), t, answering(200, body), receiver)
	if got.Status != 200 || len(got.Body) != 2<<10 || body.read > 4<<10 || !body.closed {
		t.Errorf("status %d, %d bytes kept, %d read, closed: %t", got.Status, len(got.Body), body.read, body.closed)
	}
}

func TestPostReturnsStatusWhenBodyIsTruncated(t *testing.T) {
	t.Parallel()
	broken := io.MultiReader(strings.NewReader("half"), brokenReader{})
	got := post(t.Context(), t, answering(200, &content{Reader: broken}), receiver)
	if diff := cmp.Diff(webhook.Answer{Status: 200, Body: []byte("half")}, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errTrouble }

func TestPostTimesOutAfterThirtySeconds(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]doer{
		"before its answer": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, &safehttp.Error{Class: safehttp.Timeout}
		},
		"within its answer": func(r *http.Request) (*http.Response, error) {
			return answering(200, &content{Reader: hanging{r.Context().Done()}})(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				got := post(t.Context(), t, client, receiver)
				if got.Failure != webhook.FailedTimeout || got.Status != 0 || time.Since(started) != 30*time.Second {
					t.Errorf("got %+v after %v, want a timeout after 30 s", got, time.Since(started))
				}
			})
		})
	}
}

func TestPostReturnsErrorWhenContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := doer(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, &safehttp.Error{Class: safehttp.Timeout}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got, err := webhookworker.Poster{Client: client}.Post(ctx, receiver, nil, nil)
		if !errors.Is(err, context.DeadlineExceeded) || !cmp.Equal(got, webhook.Answer{}) {
			t.Errorf("got %+v, %v, want the worker's own deadline", got, err)
		}
	})
}

func TestPostClassifiesFailures(t *testing.T) {
	t.Parallel()
	for class, want := range map[safehttp.Class]webhook.Failure{
		safehttp.BlockedAddress: webhook.FailedBlocked, safehttp.BadURL: webhook.FailedBlocked,
		safehttp.DNS: webhook.FailedDNS,
		safehttp.TLS: webhook.FailedTLS, safehttp.Timeout: webhook.FailedTimeout, safehttp.Canceled: webhook.FailedTimeout,
		safehttp.Connect: webhook.FailedConnect, safehttp.BadAnswer: webhook.FailedConnect,
		safehttp.TooLarge: webhook.FailedConnect,
	} {
		client := doer(func(*http.Request) (*http.Response, error) { return nil, &safehttp.Error{Class: class} })
		if got := post(t.Context(), t, client, receiver); !cmp.Equal(got, webhook.Answer{Failure: want}) {
			t.Errorf("%s: %+v, want %s", class, got, want)
		}
	}
	client := doer(func(*http.Request) (*http.Response, error) { return nil, errTrouble })
	if got := post(t.Context(), t, client, receiver); got.Failure != webhook.FailedConnect {
		t.Errorf("an unknown error: %+v", got)
	}
	if got := post(t.Context(), t, client, "https://hooks.example/%zz"); got.Failure != webhook.FailedBlocked {
		t.Errorf("an address that is none: %+v", got)
	}
}

func TestPostDoesNotFollowRedirect(t *testing.T) {
	t.Parallel()
	var followed atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			followed.Add(1)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	client := safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if got := post(t.Context(), t, client, server.URL); got.Status != http.StatusTemporaryRedirect || got.Failure != "" ||
		followed.Load() != 0 {
		t.Errorf("got %+v, followed %d times", got, followed.Load())
	}
}

func TestPostBlocksPrivateAddress(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(server.Close)
	if got := post(t.Context(), t, safehttp.New(safehttp.Options{}), server.URL); got.Failure != webhook.FailedBlocked ||
		reached.Load() != 0 {
		t.Errorf("got %+v, reached %d times", got, reached.Load())
	}
}
