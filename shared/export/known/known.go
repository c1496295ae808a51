// Package known holds hints about the FHIR server behind an endpoint: concurrency, page size, batches, and the order of
// searches. Exports learn them, and later exports begin with them. No hint omits a search for a type that the server
// lists. An unlisted type that the server has refused is not tried again before the hint expires.
package known

import (
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// loadLife is the lifetime of an observed concurrency, and limitLife that of a refused one: an export can't
	// distinguish it from a rate limit.
	loadLife  = 7 * 24 * time.Hour
	limitLife = 24 * time.Hour
	// typeLife is the time for which a type is not treated as empty after a patient had a resource of it.
	typeLife = 30 * 24 * time.Hour
	// batchLife is the lifetime of a batch's outcome.
	batchLife = 30 * 24 * time.Hour
	// trialLife is the lifetime of a trial of a type that the server does not list.
	trialLife = 30 * 24 * time.Hour
	// Life is the lifetime of a row that no export renews.
	Life = 60 * 24 * time.Hour
	// renewAfter is the age after which an unchanged fact is stored again.
	renewAfter = 24 * time.Hour
	// maxTypes bounds each list of types, whatever a server states.
	maxTypes = 200
)

// Server holds the facts learned about one server. The zero value means that nothing is known.
type Server struct {
	Release string          `json:"release,omitempty"` // of the server's software, as ReleaseOf returns it
	Load    Load            `json:"load,omitzero"`
	Types   map[string]Type `json:"types,omitempty"` // the searched types
	Batch   Trial           `json:"batch,omitzero"`  // whether it supports batches of searches
	Pages   Pages           `json:"pages,omitzero"`

	// types that its statement does not list, by whether it responds to a search for them
	Unlisted map[string]Trial `json:"unlisted,omitempty"`
	// whether it supports _revinclude=Provenance:target, which its statement does not list
	Attaches Trial `json:"attaches,omitzero"`
}

// Pages holds the page sizes that work best.
type Pages struct {
	Size int       `json:"size,omitempty"` // first size; negative for no size, 0 if nothing was learned
	Most int       `json:"most,omitempty"` // largest size that has any effect; 0 if unknown
	At   time.Time `json:"at,omitzero"`
}

// Answers reports whether the server responds to searches for a type that it does not list; isKnown is false if that
// must be tried.
func (s Server) Answers(resourceType string, now time.Time) (answers, isKnown bool) {
	trial := s.Unlisted[resourceType]
	return trial.Works, trial.Counts(now, trialLife)
}

// AttachesProvenance reports whether the server supports a _revinclude of Provenance that it does not list; isKnown is
// false if that must be tried.
func (s Server) AttachesProvenance(now time.Time) (attaches, isKnown bool) {
	return s.Attaches.Works, s.Attaches.Counts(now, trialLife)
}

// Load holds the concurrency that the server has accepted and refused.
type Load struct {
	Handled int       `json:"bears,omitempty"` // handled with ease; 0 if the last export had trouble
	At      time.Time `json:"at,omitzero"`
	Limit   int       `json:"limit,omitempty"` // shown by refusing more; 0 for none
	LimitAt time.Time `json:"limit_at,omitzero"`
}

// Type records whether patients have resources of a type.
type Type struct {
	Found time.Time `json:"found,omitzero"` // when some patient had one
	Empty time.Time `json:"empty,omitzero"` // when some patient had none
}

// Trial records whether an optional feature of the server worked.
type Trial struct {
	Works bool      `json:"works"`
	At    time.Time `json:"at,omitzero"` // zero if it was never tried
}

// Counts reports whether the trial is more recent than life.
func (t Trial) Counts(now time.Time, life time.Duration) bool {
	return !t.At.IsZero() && now.Sub(t.At) < life
}

// after returns the trial after an export. worked is nil if the export did not try the feature.
func (t Trial) after(worked *bool, now time.Time) (next Trial, isNew bool) {
	if worked == nil || *worked == t.Works && !isOld(t.At, now) {
		return t, false
	}
	return Trial{Works: *worked, At: now}, true
}

// InFlight returns the number of concurrent requests that an export begins with and its upper limit; 0 for an unknown
// value.
func (s Server) InFlight(now time.Time) (begin, limit int) {
	if now.Sub(s.Load.At) < loadLife {
		begin = s.Load.Handled
	}
	if now.Sub(s.Load.LimitAt) < limitLife {
		limit = s.Load.Limit
	}
	return begin, limit
}

// IsEmpty reports whether no recently exported patient had resources of the type.
func (s Server) IsEmpty(resourceType string, now time.Time) bool {
	one := s.Types[resourceType]
	return !one.Empty.IsZero() && now.Sub(one.Empty) < typeLife && (one.Found.IsZero() || now.Sub(one.Found) >= typeLife)
}

// IsKnown reports whether the type was ever searched.
func (s Server) IsKnown(resourceType string) bool { return s.Types[resourceType] != (Type{}) }

// Batches reports whether a batch of searches may be tried, that is, unless one has failed recently.
func (s Server) Batches(now time.Time) bool { return s.Batch.Works || !s.Batch.Counts(now, batchLife) }

// Of returns the facts that still apply if the server states the given release. Another release may behave differently.
func (s Server) Of(release string) Server {
	if s.Release != release {
		s.Batch, s.Pages, s.Unlisted, s.Attaches = Trial{}, Pages{}, nil, Trial{}
	}
	s.Release = release
	return s
}

// Lesson holds the hints that one export has learned.
type Lesson struct {
	Release string
	Load    Experience
	Found   []string // types of which the patient has resources
	Empty   []string // types searched completely without a result
	Batch   *bool    // whether batches work; nil if none was tried
	Pages   Pages    // At is unused; zero if nothing was learned

	Unlisted map[string]bool // types that were tried, by whether the server responded
	Attaches *bool           // whether _revinclude of Provenance works; nil if not tried
}

// Experience is the outcome of one export's concurrent requests.
type Experience struct {
	Handled int  `json:"Bears"` // concurrent requests handled with ease; 0 if too few were sent to tell
	Limit   int  // shown by a refusal in this export; 0 for none
	Trouble bool // it has refused requests, or was near a limit
}

// Learn adds the lessons of an export at time now. isNew is false if they add nothing new.
func (s Server) Learn(lesson Lesson, now time.Time) (next Server, isNew bool) {
	next = s.Of(lesson.Release)
	isNew = s.Release != lesson.Release
	next.Load, isNew = s.Load.after(lesson.Load, now, isNew)
	var more bool
	if next.Types, more = learnTypes(s.Types, lesson, now); more {
		isNew = true
	}
	if next.Batch, more = next.Batch.after(lesson.Batch, now); more {
		isNew = true
	}
	if next.Attaches, more = next.Attaches.after(lesson.Attaches, now); more {
		isNew = true
	}
	if next.Unlisted, more = learnUnlisted(next.Unlisted, lesson.Unlisted, now); more {
		isNew = true
	}
	if lesson.Pages != (Pages{}) && (lesson.Pages.Size != next.Pages.Size || lesson.Pages.Most != next.Pages.Most ||
		isOld(next.Pages.At, now)) {
		lesson.Pages.At = now
		next.Pages, isNew = lesson.Pages, true
	}
	return next, isNew
}

// PageSize returns the initial and the largest page size; 0 for an unknown value.
func (s Server) PageSize(now time.Time) (size, most int) {
	if now.Sub(s.Pages.At) >= loadLife {
		return 0, 0
	}
	return s.Pages.Size, s.Pages.Most
}

// after returns the load after an export. A limit applies for limitLife from its refusal, so that a server with a
// raised limit eventually gets more requests.
func (l Load) after(met Experience, now time.Time, wasNew bool) (next Load, isNew bool) {
	isNew = wasNew
	if met.Limit > 0 {
		l.Limit, l.LimitAt, isNew = met.Limit, now, true
	}
	switch {
	case met.Trouble:
		isNew = isNew || l.Handled != met.Limit
		l.Handled, l.At = met.Limit, now
	case met.Handled > 0 && (met.Handled != l.Handled || isOld(l.At, now)):
		l.Handled, l.At, isNew = met.Handled, now, true
	}
	return l, isNew
}

// learnTypes adds the types of which the patient has resources.
func learnTypes(types map[string]Type, lesson Lesson, now time.Time) (next map[string]Type, isNew bool) {
	next = map[string]Type{}
	maps.Copy(next, types)
	for _, resourceType := range slices.Concat(lesson.Found, lesson.Empty) {
		one, known := next[resourceType]
		at := &one.Empty
		if slices.Contains(lesson.Found, resourceType) {
			at = &one.Found
		}
		if isOld(*at, now) && (known || len(next) < maxTypes) {
			*at, isNew = now, true
			next[resourceType] = one
		}
	}
	return next, isNew
}

// learnUnlisted adds the unlisted types to which the server responds.
func learnUnlisted(trials map[string]Trial, tried map[string]bool, now time.Time) (next map[string]Trial, isNew bool) {
	if len(tried) == 0 {
		return trials, false
	}
	next = map[string]Trial{}
	maps.Copy(next, trials)
	for resourceType, works := range tried {
		if seen := next[resourceType]; (works != seen.Works || isOld(seen.At, now)) && len(next) < maxTypes {
			next[resourceType], isNew = Trial{Works: works, At: now}, true
		}
	}
	return next, isNew
}

func isOld(at, now time.Time) bool { return now.Sub(at) >= renewAfter }

// maxName bounds the stored length of a name, in bytes.
const maxName = 100

// ReleaseOf returns a name for the release of a server's software, from its CapabilityStatement. If the statement has
// no version, the date is used, without its time, which some servers take from their clock.
func ReleaseOf(software, version, date string) string {
	if version == "" {
		version = date[:min(len(date), len("2006-01-02"))]
	}
	return strings.ToValidUTF8(software[:min(len(software), maxName)]+" "+version[:min(len(version), maxName)], "")
}
