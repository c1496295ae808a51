package ihe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	peer "recordbridge/infra/test/ihe"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
)

// crowd simulates many gateways. Some never respond. The other gateways report no match after a second.
type crowd struct {
	silent             func(host string) bool
	asked, now, atMost atomic.Int32
}

func (c *crowd) Do(request *http.Request) (*http.Response, error) {
	c.asked.Add(1)
	c.atMost.Store(max(c.atMost.Load(), c.now.Add(1)))
	defer c.now.Add(-1)
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	if c.silent(request.URL.Host) {
		<-request.Context().Done()
		return nil, &safehttp.Error{Class: safehttp.Timeout}
	}
	select {
	case <-time.After(time.Second):
	case <-request.Context().Done():
		return nil, &safehttp.Error{Class: safehttp.Timeout}
	}
	_, id, _ := strings.Cut(string(body), "<wsa:MessageID>urn:uuid:")
	id, _, _ = strings.Cut(id, "<")
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {soap}},
		Body: io.NopCloser(bytes.NewReader(noMatch(id))),
	}, nil
}

func twenty() []ihe.Gateway {
	all := make([]ihe.Gateway, 0, 20)
	for i := range 20 {
		all = append(all, leads(fmt.Sprintf("%s.%d", home, i), fmt.Sprintf("https://gateway-%d.example", i)))
	}
	return all
}

// TestLocateTimesOutSlowGateways checks that Locate returns at the time limit and reports the 5 of 20 gateways that
// never respond.
func TestLocateTimesOutSlowGateways(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		silent, atOnce int
		ends           time.Duration
	}{
		{0, 16, 2 * time.Second},
		{5, 16, 30 * time.Second},
		{5, 8, 30 * time.Second},
		{20, 16, 60 * time.Second},
		{20, 1, 600 * time.Second},
	} {
		n, heard := network(t, twenty()...)
		synctest.Test(t, func(t *testing.T) {
			c := &crowd{silent: func(host string) bool {
				var number int
				_, err := fmt.Sscanf(host, "gateway-%d.example", &number)
				return err == nil && number < test.silent
			}}
			n.Through(c)
			n.Limits(30*time.Second, test.atOnce)
			who, began := asserted(t), time.Now()
			who.ExpiresAt = began.Add(time.Hour)
			unanswered := 0
			err := n.Locate(t.Context(), who, func(f tefca.Facility) error {
				if f.Match == tefca.Unanswered && f.Name == "Facility "+f.ID {
					unanswered++
				}
				return nil
			})
			if took := time.Since(began); took != test.ends || unanswered != test.silent ||
				len(heard.all) != test.silent || err != nil {
				t.Errorf("%d silent, %d at once: %s, %d unanswered, %v; want %s", test.silent, test.atOnce, took, unanswered,
					err, test.ends)
			}
			if int(c.atMost.Load()) > test.atOnce || c.asked.Load() != 20 {
				t.Errorf("%d asked, %d at once", c.asked.Load(), c.atMost.Load())
			}
		})
	}
}

// TestLocateQueriesTwentyGatewaysOverTLS checks Locate with 15 gateways that respond and 5 that keep the connection
// open.
func TestLocateQueriesTwentyGatewaysOverTLS(t *testing.T) {
	t.Parallel()
	p, silent := gateway(t, home), gateway(t, home)
	p.Switch(peer.Discovery, peer.NoMatch)
	silent.Switch(peer.Discovery, peer.Slow)
	all := make([]ihe.Gateway, 0, 20)
	for i := range 20 {
		to := p.URL
		if i%4 == 0 {
			to = silent.URL
		}
		all = append(all, leads(fmt.Sprintf("%s.%d", home, i), to))
	}
	n, _ := network(t, all...)
	const limit = 8 * time.Second
	n.Limits(limit, 20)
	began := time.Now()
	found := located(t, n)
	took := time.Since(began)
	t.Logf("20 gateways at once, 5 silent, a limit of %s: %s", limit, took)
	// The limits are generous enough for a busy machine. The previous test checks the exact time.
	if took < limit || took > 10*limit || len(found) != 5 {
		t.Errorf("took %s, %d unanswered", took, len(found))
	}
	if p.Seen(peer.Discovery) != 15 {
		t.Errorf("%d were asked and answered", p.Seen(peer.Discovery))
	}
}

func TestLocateSkipsCallbackAfterContextIsDone(t *testing.T) {
	t.Parallel()
	n, heard := network(t, twenty()...)
	synctest.Test(t, func(t *testing.T) {
		n.Through(&crowd{silent: func(string) bool { return true }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := n.Locate(ctx, asserted(t), func(tefca.Facility) error { return errors.New("told") })
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, tefca.ErrUnavailable) || len(heard.all) > 0 {
			t.Errorf("%v, %d doubts", err, len(heard.all))
		}
	})
}
