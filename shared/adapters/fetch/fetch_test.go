package fetch_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/adapters/fetch"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/platform/safehttp"
)

// serve starts a local server and returns a client that may connect to no other private address.
func serve(t *testing.T, handler http.HandlerFunc) (address string, client fetch.Client) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL,
		fetch.Client{HTTP: safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})}
}

func TestFetchSendsValidatorsInConditionalRequests(t *testing.T) {
	t.Parallel()
	address, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") == "" || r.Header.Get("Authorization") != "" || r.Method != http.MethodGet {
			http.Error(w, "who are you?", http.StatusBadRequest)
			return
		}
		if r.Header.Get("If-None-Match") == `W/"1"` && r.Header.Get("If-Modified-Since") == "Wed, 04 Mar 2026 05:00:00 GMT" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `W/"1"`)
		w.Header().Set("Last-Modified", "Wed, 04 Mar 2026 05:00:00 GMT")
		_, _ = io.WriteString(w, "hello")
	})
	answer, err := client.Fetch(t.Context(), address, intake.Known{})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || string(body) != "hello" || answer.IsUnchanged || answer.Known.ETag != `W/"1"` {
		t.Errorf("%q, %+v, %v", body, answer, err)
	}
	if answer, err = client.Fetch(t.Context(), address, answer.Known); err != nil || !answer.IsUnchanged ||
		answer.Body != nil {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestFetchLimitsRedirects(t *testing.T) {
	t.Parallel()
	address, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch target := r.URL.Query().Get("to"); {
		case r.URL.Path == "/moved":
			_, _ = io.WriteString(w, "here")
		case r.URL.Path == "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case r.URL.Path == "/missing":
			http.NotFound(w, r)
		case target != "":
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusMovedPermanently)
		default:
			w.WriteHeader(http.StatusFound) // a redirect without a Location header
		}
	})
	for path, want := range map[string]string{
		"?to=/moved": "", "?to=%3Fto%3D/moved": "", "/round": "bad_move", "/": "bad_move", "/missing": "bad_status",
		"?to=http://10.0.0.1/secret":               string(safehttp.BlockedAddress),
		"?to=http://169.254.169.254/latest":        string(safehttp.BlockedAddress),
		"?to=https://[::1]/":                       string(safehttp.BlockedAddress),
		"?to=file:///etc/passwd":                   "bad_move",
		"?to=https://user:secret@lists.example/r4": string(safehttp.BadURL),
	} {
		answer, err := client.Fetch(t.Context(), address+path, intake.Known{})
		if err == nil {
			_ = answer.Body.Close()
		}
		class := ""
		if failure, ok := errors.AsType[interface {
			error
			Failure() (string, int)
		}](err); ok {
			class, _ = failure.Failure()
		}
		if class != want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q (%v), want %q", path, class, err, want)
		}
	}
}

// redirecting is an https server that redirects to http.
type redirecting struct{ asked []string }

func (s *redirecting) Do(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, r.URL.String())
	return &http.Response{
		StatusCode: http.StatusFound, Header: http.Header{"Location": {"http://lists.example/r4"}},
		Body: http.NoBody,
	}, nil
}

func TestFetchRejectsRedirectFromHTTPSToHTTP(t *testing.T) {
	t.Parallel()
	var server redirecting
	_, err := fetch.Client{HTTP: &server}.Fetch(t.Context(), "https://lists.example/r4", intake.Known{})
	if failure, ok := errors.AsType[*fetch.Error](err); !ok || failure.Reason != intake.BadMove || len(server.asked) != 1 {
		t.Errorf("%v, asked %q", err, server.asked)
	}
}

// slow sends response headers but never sends a body.
type slow struct{}

func (slow) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(waiting{r.Context()})}, nil
}

type waiting struct{ ctx context.Context } //nolint:containedctx // stands for a connection

func (w waiting) Read([]byte) (int, error) {
	<-w.ctx.Done()
	return 0, w.ctx.Err()
}

func TestFetchTimesOutWhenBodyNeverArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		answer, err := fetch.Client{HTTP: slow{}}.Fetch(ctx, "https://lists.example", intake.Known{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(answer.Body)
		if failure, ok := errors.AsType[*fetch.Error](err); !ok || failure.Reason != intake.OutOfTime ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

func TestFetchReportsTruncatedBody(t *testing.T) {
	t.Parallel()
	address, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
	})
	answer, err := client.Fetch(t.Context(), address, intake.Known{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.ReadAll(answer.Body)
	if failure, ok := errors.AsType[*fetch.Error](err); !ok || failure.Reason != intake.Reason(safehttp.BadAnswer) {
		t.Errorf("%v", err)
	}
}
