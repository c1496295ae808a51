package health_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"recordbridge/shared/catalog/health"
)

func recorded(n int, state health.State, at time.Time) health.Record {
	return health.Record{EndpointID: fmt.Sprintf("0e000000-0000-4000-8000-%012d", n), State: state, CheckedAt: at}
}

func TestSummaryReturnsEndpointStatus(t *testing.T) {
	t.Parallel()
	s, err := health.ReadSummary(health.Summarize([]health.Record{
		recorded(3, health.Down, noon.Add(30*time.Second)), recorded(1, health.OK, noon), recorded(2, health.Degraded, noon),
		recorded(4, health.Unknown, noon),
		{EndpointID: "0e000000-0000-4000-8000-000000000005"},
		{EndpointID: "no id", CheckedAt: noon},
	}).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]health.Status{
		0: {State: health.Unknown}, 1: {State: health.OK, CheckedAt: noon}, 2: {State: health.Degraded, CheckedAt: noon},
		3: {State: health.Down, CheckedAt: noon}, 4: {State: health.Unknown, CheckedAt: noon}, 5: {State: health.Unknown},
	} {
		if got := s.Of(recorded(n, "", noon).EndpointID); got != want {
			t.Errorf("endpoint %d: got %+v, want %+v", n, got, want)
		}
	}
	if got := s.Of("no id"); got != (health.Status{State: health.Unknown}) || s.Len() != 4 {
		t.Errorf("%+v, and %d endpoints", got, s.Len())
	}
}

func TestBestReturnsBestState(t *testing.T) {
	t.Parallel()
	s := health.Summarize([]health.Record{
		recorded(1, health.OK, noon), recorded(2, health.Degraded, noon),
		recorded(3, health.Down, noon),
	})
	of := func(numbers ...int) health.State {
		endpoints := make([]string, 0, len(numbers))
		for _, n := range numbers {
			endpoints = append(endpoints, recorded(n, "", noon).EndpointID)
		}
		return s.Best(endpoints)
	}
	for want, got := range map[health.State]health.State{
		health.OK: of(3, 2, 9, 1), health.Unknown: of(3, 9, 2),
		health.Degraded: of(3, 2), health.Down: of(3),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := of(); got != health.Unknown {
		t.Errorf("a brand without endpoints is %s", got)
	}
}

func TestVersionChangesWithSummaryContent(t *testing.T) {
	t.Parallel()
	one := health.Summarize([]health.Record{recorded(1, health.OK, noon)})
	later := health.Summarize([]health.Record{recorded(1, health.OK, noon.Add(time.Hour))})
	down := health.Summarize([]health.Record{recorded(1, health.Down, noon)})
	if one.States() != later.States() || one.States() == down.States() || one.Version(noon) == later.Version(noon) ||
		one.Version(noon) == down.Version(noon) {
		t.Errorf("states %s, %s, %s; versions %s, %s, %s", one.States(), later.States(), down.States(), one.Version(noon),
			later.Version(noon), down.Version(noon))
	}
	if _, ok := health.ParseVersion(one.Version(noon)); !ok {
		t.Errorf("%s is no version", one.Version(noon))
	}
	for _, other := range []string{
		"", "../../sources/x", one.Version(noon) + "x", "20260304T120000Z-0123456789abcdeg",
		"20261304T120000Z-0123456789abcdef",
	} {
		if _, ok := health.ParseVersion(other); ok {
			t.Errorf("%q is a version", other)
		}
	}
}

// FuzzReadSummary checks that ReadSummary terminates on arbitrary input, and that encoding the resulting summary
// reproduces the input.
func FuzzReadSummary(f *testing.F) {
	whole := health.Summarize([]health.Record{recorded(1, health.OK, noon), recorded(2, health.Down, noon)}).Bytes()
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte(nil))
	f.Add(append(bytes.Clone(whole), whole[10:]...))
	f.Fuzz(func(t *testing.T, document []byte) {
		s, err := health.ReadSummary(document)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Bytes(), document) {
			t.Error("it was read as another one")
		}
		_ = s.Of(endpointID)
	})
}
