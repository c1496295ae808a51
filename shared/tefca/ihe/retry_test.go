package ihe_test

import (
	"errors"
	"io"
	"net/http"
	"regexp"
	"testing"

	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/secret"
)

// broken is a client that fails every request.
type broken struct {
	class  safehttp.Class
	bodies []string
}

func (b *broken) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	b.bodies = append(b.bodies, string(body))
	return nil, &safehttp.Error{Class: b.class}
}

// TestTransportErrorsAreRetriedOnlyWhenSafe checks that a request that may have arrived is retried only if it is
// read-only. Requests that timed out, and requests blocked by the service's own guard, are not retried.
func TestTransportErrorsAreRetriedOnlyWhenSafe(t *testing.T) {
	t.Parallel()
	n, _ := network(t, leads(home, "https://gateway.example"))
	at := tefca.Facility{ID: home, Local: secret.New(`{"home":"` + home + `","root":"2.999.2","extension":"1"}`)}
	listed := tefca.Document{ID: "9", Locator: secret.New(`{"home":"` + home +
		`","patient":"1^^^&2.999.2&ISO","repository":"2.999.8","document":"9"}`)}
	for _, test := range []struct {
		class           safehttp.Class
		query, retrieve int
	}{
		{safehttp.DNS, 2, 2},
		{safehttp.Connect, 2, 2},
		{safehttp.BadAnswer, 2, 1},
		{safehttp.Timeout, 1, 1},
		{safehttp.TLS, 1, 1},
		{safehttp.BlockedAddress, 1, 1},
		{safehttp.BadURL, 1, 1},
		{safehttp.Canceled, 1, 1},
	} {
		queries, retrievals := &broken{class: test.class}, &broken{class: test.class}
		n.Through(queries)
		if _, err := n.Documents(t.Context(), asserted(t), at); err == nil {
			t.Errorf("%s: listed", test.class)
		}
		n.Through(retrievals)
		if _, err := n.Retrieve(t.Context(), asserted(t), at, listed, 10); err == nil {
			t.Errorf("%s: retrieved", test.class)
		}
		if len(queries.bodies) != test.query || len(retrievals.bodies) != test.retrieve {
			t.Errorf("%s: %d queries, %d retrievals", test.class, len(queries.bodies), len(retrievals.bodies))
		}
		seen := map[string]bool{}
		for _, body := range queries.bodies {
			for _, id := range regexp.MustCompile(`MessageID>[^<]+| ID="[^"]+|wsu:Id="[^"]+`).FindAllString(body, -1) {
				if seen[id] {
					t.Errorf("%s: %s was sent twice", test.class, id)
				}
				seen[id] = true
			}
		}
		if len(seen) != 3*test.query {
			t.Errorf("%d ids in %d requests", len(seen), test.query)
		}
	}
}

// status is a client that returns the given status without a body.
type status int

func (s status) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(s), Header: http.Header{}, Body: http.NoBody}, nil
}

func TestHTTPErrorStatusIsClassified(t *testing.T) {
	t.Parallel()
	n, _ := network(t, leads(home, "https://gateway.example"))
	at := tefca.Facility{ID: home, Local: secret.New(`{"home":"` + home + `","root":"2.999.2","extension":"1"}`)}
	for code, want := range map[status]error{
		http.StatusOK: tefca.ErrContent, http.StatusMovedPermanently: tefca.ErrRefused,
		http.StatusBadRequest:   tefca.ErrRefused,
		http.StatusUnauthorized: tefca.ErrIdentity, http.StatusForbidden: tefca.ErrRefused,
		http.StatusTooManyRequests:     tefca.ErrUnavailable,
		http.StatusInternalServerError: tefca.ErrUnavailable, http.StatusServiceUnavailable: tefca.ErrUnavailable,
	} {
		n.Through(code)
		if _, err := n.Documents(t.Context(), asserted(t), at); !errors.Is(err, want) {
			t.Errorf("%d: %v", code, err)
		}
	}
}
