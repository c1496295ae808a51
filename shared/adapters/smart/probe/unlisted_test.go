package probe_test

import (
	"errors"
	"testing"
	"time"

	"recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/export/known"
)

func TestRunReportsUnlistedTypesTriedByExports(t *testing.T) {
	t.Parallel()
	learned, _ := known.Server{}.Learn(known.Lesson{
		Release:  known.ReleaseOf("Recordbridge sandbox EHR", "", "2026-03-01"),
		Unlisted: map[string]bool{"Claim": true, "Flag": false},
	}, time.Now())
	for name, c := range map[string]struct {
		learned known.Server
		err     error
		stored  bool
		want    string
	}{
		"answered": {learned, nil, true, "Unlisted, but searchable and exported: Claim."},
		"refused":  {learned, nil, true, "Rejected when an export tried them: Flag."},
		"not tried": {
			learned, nil, true,
			"Not yet tried with this server release; the next export tries those that the scopes cover: " +
				"QuestionnaireResponse, ",
		},
		"at another release": {
			learned.Of("another"), nil, true,
			"scopes cover: QuestionnaireResponse, MedicationDispense, Claim, ",
		},
		"it cannot be read": {
			known.Server{},
			errors.New("no table"), true,
			"It is unknown whether exports have tried them.",
		},
		"an address, no endpoint": {known.Server{}, nil, false, "not listed by the server: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.learned, w.learnedErr = c.learned, c.err
			got, text := w.run(t, probe.Subject{Endpoint: w.endpoint("unlisted:Claim", "sandbox"), Stored: c.stored})
			wantTold(t, name, got, told{"resource_types": {probe.OK, c.want}})
			w.wantNothingShown(t, text)
		})
	}
}

func TestRunReportsUnlistedRevIncludeTriedByExports(t *testing.T) {
	t.Parallel()
	learned := func(works bool) known.Server {
		server, _ := known.Server{}.Learn(known.Lesson{
			Release:  known.ReleaseOf("Recordbridge sandbox EHR", "", "2026-03-01"),
			Attaches: &works,
		}, time.Now())
		return server
	}
	for name, c := range map[string]struct {
		learned known.Server
		err     error
		want    string
	}{
		"it works":          {learned(true), nil, "it worked in an export."},
		"it does not":       {learned(false), nil, "it failed in an export."},
		"not tried":         {known.Server{}, nil, "The next export will try it."},
		"another release":   {learned(true).Of("another"), nil, "The next export will try it."},
		"it cannot be read": {known.Server{}, errors.New("no table"), "It is unknown whether exports have tried it."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.learned, w.learnedErr = c.learned, c.err
			got, _ := w.run(t, probe.Subject{Endpoint: w.endpoint("unlisted-includes", "sandbox"), Stored: true})
			wantTold(t, name, got, told{"searches": {probe.OK, c.want}})
		})
	}
}
