package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/fetch"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/testkit/expect"
)

// network lists and retrieves what a test says.
type network struct {
	tefca.Network

	listed []tefca.Document
	err    error
	bodies map[string]any // bytes or an error, by id
}

func (n network) Documents(context.Context, tefca.Assertion, tefca.Facility) ([]tefca.Document, error) {
	return n.listed, n.err
}

func (n network) Retrieve(_ context.Context, _ tefca.Assertion, _ tefca.Facility, of tefca.Document, _ int64) ([]byte, error) {
	switch body := n.bodies[of.ID].(type) {
	case []byte:
		return body, nil
	case error:
		return nil, fmt.Errorf("retrieve: %w", body)
	}
	return nil, tefca.ErrNotFound
}

func of(bodies map[string]any) network {
	n := network{bodies: bodies}
	for id := range bodies {
		n.listed = append(n.listed, tefca.Document{ID: id, Made: time.Unix(int64(len(n.listed)), 0)})
	}
	return n
}

func alder() []byte { return sim.Fixtures()["alder.xml"] }

func TestWhatCannotBeHadIsCountedByReason(t *testing.T) {
	t.Parallel()
	n := of(map[string]any{
		"good": alder(), "twice": alder(), "no XML": []byte("<html"), "gone": tefca.ErrNotFound, "refused": tefca.ErrRefused, "large": tefca.ErrTooLarge,
		"broken": tefca.ErrContent, "silent": tefca.ErrUnavailable, "late": tefca.ErrIdentity,
	})
	got, err := fetch.Reader{}.Read(t.Context(), n, tefca.Assertion{}, tefca.Facility{})
	expect.NoError(t, err)
	want := map[string]int{"invalid_content": 2, "not_found": 1, "refused": 1, "too_large": 1, "unavailable": 2}
	if got.Documents != 2 || !maps.Equal(got.Lost, want) {
		t.Errorf("%d documents, lost %v, want %v", got.Documents, got.Lost, want)
	}
	for range 2 { // a conclusion that is made again tells the same
		patients, resources := 0, 0
		expect.NoError(t, got.Resources(func(resource []byte) error {
			resources++
			if strings.HasPrefix(string(resource), `{"resourceType":"Patient"`) {
				patients++
			}
			return nil
		}))
		if patients != 1 || resources < 20 {
			t.Errorf("%d patients in %d resources", patients, resources)
		}
	}
}

func TestAFacilityOfWhichNothingCanBeHadHasFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   network
		want error
	}{
		"no list":               {network{err: tefca.ErrRefused}, tefca.ErrRefused},
		"no document":           {of(map[string]any{"a": tefca.ErrUnavailable}), tefca.ErrUnavailable},
		"none that can be read": {of(map[string]any{"a": []byte("x")}), tefca.ErrContent},
		"an empty list":         {network{}, nil},
	} {
		got, err := fetch.Reader{}.Read(t.Context(), c.of, tefca.Assertion{}, tefca.Facility{})
		if !errors.Is(err, c.want) || got.Documents != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	whole := of(map[string]any{"a": alder()})
	whole.err = tefca.ErrUnavailable
	if got, err := (fetch.Reader{}).Read(t.Context(), whole, tefca.Assertion{}, tefca.Facility{}); err != nil || got.Documents != 1 || got.Lost["unavailable"] != 1 {
		t.Errorf("a list that is not whole: %+v, %v", got, err)
	}
}

func TestOfMoreThanFitsTheNewestAreRead(t *testing.T) {
	t.Parallel()
	bodies := map[string]any{}
	for i := range 203 {
		bodies[strconv.Itoa(i)] = tefca.ErrNotFound
	}
	n := of(bodies)
	bodies[n.listed[202].ID] = alder()
	got, err := fetch.Reader{}.Read(t.Context(), n, tefca.Assertion{}, tefca.Facility{})
	expect.NoError(t, err)
	if got.Documents != 1 || got.Lost["limit"] != 3 || got.Lost["not_found"] != 199 {
		t.Errorf("%d documents, lost %v", got.Documents, got.Lost)
	}
	large := of(map[string]any{"a": alder()})
	large.listed[0].Size = 49 << 20
	if _, err := (fetch.Reader{}).Read(t.Context(), large, tefca.Assertion{}, tefca.Facility{}); err != nil {
		t.Errorf("one beyond the bound: %v", err)
	}
}
