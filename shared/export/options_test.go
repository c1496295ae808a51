package export_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

func TestParseOptionsAcceptsValidOptions(t *testing.T) {
	t.Parallel()
	now := aMoment()
	for name, c := range map[string]struct {
		since          string
		types, formats []string
		want           export.Options
	}{
		"nothing":     {want: export.Options{}},
		"the default": {formats: []string{"jsonl", "jsonl"}, want: export.Options{}},
		"a date":      {since: "2026-01-31", want: export.Options{Since: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}},
		"a time": {
			since: "2026-01-31T12:00:00.75+02:00",
			want:  export.Options{Since: time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)},
		},
		"types": {
			types: []string{"Practitioner", "Goal", "Patient", "Goal"},
			want:  export.Options{Types: []string{"Goal", "Patient", "Practitioner"}},
		},
		"a type of DSTU2": {types: []string{"MedicationOrder"}, want: export.Options{Types: []string{"MedicationOrder"}}},
		"formats": {
			formats: []string{"outcome", "fhir_bundle", "jsonl_gz"},
			want:    export.Options{Formats: []export.Format{export.Gzipped, export.OneBundle, export.Report}},
		},
	} {
		got, err := export.ParseOptions(c.since, c.types, c.formats, now)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestParseOptionsRejectsInvalidOptionsWithoutQuotingThem(t *testing.T) {
	t.Parallel()
	now := aMoment()
	for name, c := range map[string]struct {
		since          string
		types, formats []string
		says           string
	}{
		"no time":           {since: "Alder", says: "since must be a date"},
		"a year":            {since: "2026", says: "since must be a date"},
		"before everybody":  {since: "0001-01-01", says: "since must be a date"},
		"the future":        {since: now.Add(time.Hour).Format(time.RFC3339), says: "not be in the future"},
		"no type":           {types: []string{"Goal", "Alder"}, says: "resource_types[1]"},
		"an empty type":     {types: []string{""}, says: "resource_types[0]"},
		"a type in lower":   {types: []string{"goal"}, says: "resource_types[0]"},
		"only by reference": {types: []string{"Practitioner", "Binary"}, says: "fetched as references"},
		"too many types":    {types: slices.Repeat([]string{"Goal"}, 101), says: "more than 100"},
		"no format":         {formats: []string{"jsonl", "Alder"}, says: "formats[1]"},
		"only what is missing": {
			formats: []string{"outcome"},
			says:    "must also include jsonl, jsonl_gz or fhir_bundle; outcome alone",
		},
	} {
		_, err := export.ParseOptions(c.since, c.types, c.formats, now)
		if !errors.Is(err, fault.Invalid) || !strings.Contains(fault.Of(err).Public, c.says) ||
			strings.Contains(fault.Of(err).Public, "Alder") {
			t.Errorf("%s: got %v, want it to say %q", name, err, c.says)
		}
	}
}

func TestRegisterOpensNewTaskWhenOptionsDiffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		l.connection.PlatformType = "tefca"
		ask := func(o export.Options) string {
			task, err := r.Register(t.Context(), tenant, connectionID, o, false)
			if err != nil {
				t.Fatal(err)
			}
			l.Change(tenant, task.ID, func(done *export.Task) {
				done.Status, done.FinishedAt, done.SentAt, done.FilesUntil = export.Success, time.Now(), time.Now(),
					time.Now().Add(reuse)
			})
			return task.ID
		}
		since := export.Options{Since: aMoment()}
		first, again := ask(since), ask(export.Options{Since: aMoment().In(time.FixedZone("x", 3600))})
		if first != again {
			t.Error("equal options made another export")
		}
		seen := map[string]bool{first: true}
		for _, o := range []export.Options{
			{},
			{Types: []string{"Goal"}},
			{Formats: []export.Format{export.Gzipped}},
			{Since: aMoment().Add(time.Second)},
			{Fixture: "alder.xml"},
			{Fixture: "birch.xml"},
		} {
			id := ask(o)
			if seen[id] {
				t.Errorf("%+v was answered with an export that had other options", o)
			}
			seen[id] = true
		}
	})
}
