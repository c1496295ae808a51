package store_test

import (
	"fmt"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/export/known"
)

const host = "hash-of-a-token-endpoint"

func TestEndpointStateRowsExpire(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	ttl := func(sk string) string {
		t.Helper()
		value, _ := s.raw(t, "FlowTable", "HOST#"+host, sk)["ttl"].(string)
		return value
	}
	at := func(at time.Time) string { return fmt.Sprint("number ", at.Unix()) }
	expect.NoError(t, s.endpoints.TakeSlot(t.Context(), host, 0, "owner", now, now.Add(time.Minute)))
	later := now.Add(3 * time.Hour)
	expect.NoError(t, s.endpoints.TakeSlot(t.Context(), host, 1, "owner", later, later.Add(time.Minute)))
	expect.NoError(t, s.endpoints.SaveBreaker(t.Context(), host, refresh.Breaker{}, refresh.Breaker{Failures: 1}))
	if got, want := ttl("META"), at(later.Add(48*time.Hour)); got != want {
		t.Errorf("ttl %s, want %s", got, want)
	}
	expect.NoError(t, s.endpoints.SaveKnown(t.Context(), host, known.Server{}, later))
	if got, want := ttl("KNOWN"), at(later); got != want {
		t.Errorf("ttl of what exports have learned %s, want %s", got, want)
	}
	expect.NoError(t, s.endpoints.Count(t.Context(), host, now, false))
	if got, want := ttl("M#202603040506"), at(now.Add(time.Hour)); got != want {
		t.Errorf("ttl of a minute %s, want %s", got, want)
	}
}
