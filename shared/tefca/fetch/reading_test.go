package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/fetch"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// TestReaderDerivesDistinctResourceIDsPerFacility reads the same facts from two simulated hospitals.
func TestReaderDerivesDistinctResourceIDsPerFacility(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	n := sim.Network{Now: func() time.Time { return now }, Wait: func(context.Context, time.Duration) error { return nil }}
	who := fenn(t)
	who.Level, who.Token, who.ExpiresAt = 2, secret.New("token"), now.Add(time.Minute)
	facilities := map[string]tefca.Facility{}
	expect.NoError(t, n.Locate(t.Context(), who, func(f tefca.Facility) error {
		facilities[f.ID] = f
		return nil
	}))
	holder := map[string]string{} // facility name by resource ID
	for _, f := range facilities {
		first := readIDs(t, n, who, f)
		if again := readIDs(t, n, who, f); !slices.Equal(again, first) || len(first) < 40 {
			t.Errorf("%s: %d resources at first, and %d others again", f.Name, len(first), len(again))
		}
		for _, id := range first {
			if other := holder[id]; other != "" {
				t.Errorf("%s and %s share %s", other, f.Name, id)
			}
			holder[id] = f.Name
		}
	}
	if len(facilities) != 2 {
		t.Errorf("located at %d facilities", len(facilities))
	}
}

// TestReaderPreservesEverythingExceptIDsAndReferences checks that only IDs and references differ from the converter's
// output.
func TestReaderPreservesEverythingExceptIDsAndReferences(t *testing.T) {
	t.Parallel()
	var set ccda.Set
	expect.NoError(t, set.Add(alder()))
	var converted strings.Builder
	var ids []string
	_, err := set.Emit(func(r ccda.Resource) error {
		converted.Write(r.JSON)
		ids = append(ids, r.ID)
		return nil
	})
	expect.NoError(t, err)
	content, err := fetch.Reader{}.Read(t.Context(), of(map[string]any{"a": alder()}), fenn(t),
		tefca.Facility{ID: "urn:oid:2.999.1"})
	expect.NoError(t, err)
	var read strings.Builder
	var back []string
	expect.NoError(t, content.Resources(func(resource []byte) error {
		read.Write(resource)
		r, err := fhir.Scan(bytes.Clone(resource))
		if len(back) < 2*len(ids) {
			back = append(back, r.ID, ids[len(back)/2])
		}
		return err
	}))
	for _, id := range ids {
		if strings.Contains(read.String(), id) {
			t.Errorf("%s is still there", id)
		}
	}
	if got := strings.NewReplacer(back...).Replace(read.String()); len(back) < 80 || got == read.String() ||
		got != converted.String() {
		t.Errorf("of %d resources more than the ids differs, or nothing", len(back)/2)
	}
}

// readIDs reads a facility's record and returns its resources' IDs. Every reference must point to one of these
// resources.
func readIDs(t *testing.T, n tefca.Network, who tefca.Assertion, at tefca.Facility) []string {
	t.Helper()
	content, err := fetch.Reader{}.Read(t.Context(), n, who, at)
	expect.NoError(t, err)
	var ids, references []string
	known := map[string]bool{}
	expect.NoError(t, content.Resources(func(resource []byte) error {
		r, err := fhir.Scan(resource)
		ids = append(ids, r.ID)
		known[r.Type+"/"+r.ID] = true
		references = append(references, r.References...)
		return err
	}))
	for _, r := range references {
		if !known[r] && !strings.HasPrefix(r, "#") {
			t.Errorf("%s: a reference to %s leads nowhere", at.Name, r)
		}
	}
	return ids
}

// TestReaderCountsAndLogsListLosses checks that faulty list entries are counted and logged. If no entry is usable, the
// reader returns the network's error.
func TestReaderCountsAndLogsListLosses(t *testing.T) {
	t.Parallel()
	n := of(map[string]any{"good": alder(), "another person's": birch()})
	n.err = &tefca.ListError{Lost: []tefca.Loss{
		{Err: tefca.ErrContent, Attribute: "repositoryUniqueId", Count: 2},
		{Err: tefca.ErrOtherPerson, Attribute: "patientId", Count: 3},
		{Err: tefca.ErrUnavailable, Count: 1},
	}}
	for _, isEmpty := range []bool{false, true} {
		others, documents, failure := 4, 1, error(nil)
		want := map[string]int{"invalid_content": 2, "other_person": 4, "unavailable": 1}
		if isEmpty {
			n.listed, others, documents, failure, want = nil, 3, 0, tefca.ErrOtherPerson, nil
		}
		ctx, line := logx.Begin(t.Context())
		got, err := fetch.Reader{}.Read(ctx, n, fenn(t), tefca.Facility{ID: "urn:oid:2.999.1"})
		if got.Documents != documents || !maps.Equal(got.Lost, want) || !errors.Is(err, failure) {
			t.Errorf("%d documents, lost %v, %v", got.Documents, got.Lost, err)
		}
		var log bytes.Buffer
		line.Emit(ctx, logx.New(&log), "test")
		for _, told := range []string{
			`"class":"content","documents":2,"field":"repositoryUniqueId"}`, `"class":"unavailable","documents":1}`,
			fmt.Sprintf(`"class":"other_person","documents":%d}`, others),
		} {
			if strings.Count(log.String(), told) != 1 {
				t.Errorf("%s is not told once: %s", told, log.String())
			}
		}
	}
}
