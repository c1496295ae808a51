// Package known holds hints about the FHIR server behind an endpoint, which exports learn and later exports begin with:
// concurrency, page size, batches, and the order of searches. No hint omits a search for a type that the server lists.
// Of the types that it does not list, those that it has refused are not tried again before the hint expires.
package known

import (
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// loadLife is how long a server is taken to bear what it has borne, and limitLife how long to refuse what it has
	// refused: a limit of its rate looks the same to an export.
	loadLife  = 7 * 24 * time.Hour
	limitLife = 24 * time.Hour
	// typeLife is for how long a type of which some patient had something is not taken to be empty.
	typeLife = 30 * 24 * time.Hour
	// batchLife is the lifetime of a batch's outcome.
	batchLife = 30 * 24 * time.Hour
	// trialLife is the lifetime of a trial of a type that the server does not list.
	trialLife = 30 * 24 * time.Hour
	// Life is the lifetime of a row that no export renews.
	Life = 60 * 24 * time.Hour
	// renewAfter is the age from which a fact that is still true is stored again.
	renewAfter = 24 * time.Hour
	// maxTypes bounds each list of types, whatever a server states.
	maxTypes = 200
)

// Server holds what was learned of one server. The zero value is that of a server nothing is known of.
type Server struct {
	Release string          `json:"release,omitempty"` // of the server's software, as ReleaseOf returns it
	Load    Load            `json:"load,omitzero"`
	Types   map[string]Type `json:"types,omitempty"` // those that were searched
	Batch   Trial           `json:"batch,omitzero"`  // whether it answers batches of searches
	Pages   Pages           `json:"pages,omitzero"`

	// types that its statement does not list, by whether it answers a search for them
	Unlisted map[string]Trial `json:"unlisted,omitempty"`
	// whether it takes _revinclude=Provenance:target, which its statement does not list
	Attaches Trial `json:"attaches,omitzero"`
}

// Pages holds the page sizes that work best.
type Pages struct {
	Size int       `json:"size,omitempty"` // to begin with; negative for no size, 0 if nothing was learned
	Most int       `json:"most,omitempty"` // beyond which nothing is gained; 0 if that is not known
	At   time.Time `json:"at,omitzero"`
}

// Answers reports whether the server answers searches for a type that it does not list; isKnown is false
// if that has to be tried.
func (s Server) Answers(resourceType string, now time.Time) (answers, isKnown bool) {
	trial := s.Unlisted[resourceType]
	return trial.Works, trial.Counts(now, trialLife)
}

// AttachesProvenance reports whether the server takes a _revinclude of Provenance that it does not list; isKnown is
// false if that has to be tried.
func (s Server) AttachesProvenance(now time.Time) (attaches, isKnown bool) {
	return s.Attaches.Works, s.Attaches.Counts(now, trialLife)
}

// Load holds the concurrency that the server has accepted and refused.
type Load struct {
	Bears   int       `json:"bears,omitempty"` // with ease; 0 if the last export had trouble
	At      time.Time `json:"at,omitzero"`
	Limit   int       `json:"limit,omitempty"` // that it has shown by refusing more; 0 for none
	LimitAt time.Time `json:"limit_at,omitzero"`
}

// Type says whether patients have resources of a type.
type Type struct {
	Found time.Time `json:"found,omitzero"` // when some patient had one
	Empty time.Time `json:"empty,omitzero"` // when some patient had none
}

// Trial is whether a server did something that it need not do.
type Trial struct {
	Works bool      `json:"works"`
	At    time.Time `json:"at,omitzero"` // zero if it was never tried
}

// Counts reports whether there was a trial of late.
func (t Trial) Counts(now time.Time, life time.Duration) bool {
	return !t.At.IsZero() && now.Sub(t.At) < life
}

// after is the trial after an export in which it worked or did not; nil if it was not made.
func (t Trial) after(worked *bool, now time.Time) (next Trial, isNew bool) {
	if worked == nil || *worked == t.Works && !isOld(t.At, now) {
		return t, false
	}
	return Trial{Works: *worked, At: now}, true
}

// InFlight returns how many requests at once an export begins with, and which number it does not
// pass; 0 if that is not known.
func (s Server) InFlight(now time.Time) (begin, limit int) {
	if now.Sub(s.Load.At) < loadLife {
		begin = s.Load.Bears
	}
	if now.Sub(s.Load.LimitAt) < limitLife {
		limit = s.Load.Limit
	}
	return begin, limit
}

// IsEmpty reports whether nobody whose record was exported of late had resources of the type.
func (s Server) IsEmpty(resourceType string, now time.Time) bool {
	one := s.Types[resourceType]
	return !one.Empty.IsZero() && now.Sub(one.Empty) < typeLife && (one.Found.IsZero() || now.Sub(one.Found) >= typeLife)
}

// IsKnown reports whether the type was ever searched.
func (s Server) IsKnown(resourceType string) bool { return s.Types[resourceType] != (Type{}) }

// Batches reports whether a batch of searches may be tried: unless it has failed of late.
func (s Server) Batches(now time.Time) bool { return s.Batch.Works || !s.Batch.Counts(now, batchLife) }

// Of returns what still counts of a server that states a release. Another release has other ways.
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
	Empty   []string // types that were searched to the end and brought nothing
	Batch   *bool    // whether batches work; nil if none was tried
	Pages   Pages    // At is not used; zero if nothing was learned

	Unlisted map[string]bool // types that were tried, by whether the server answered
	Attaches *bool           // whether _revinclude of Provenance works; nil if it was not tried
}

// Experience is the outcome of one export's concurrent requests.
type Experience struct {
	Bears   int  // requests at once that it has borne with ease; 0 if there were never enough to tell
	Limit   int  // that it has shown by a refusal in this export; 0 for none
	Trouble bool // it has refused requests, or was near a limit
}

// Learn adds what an export has learned at now. isNew is false if that says nothing that is not known already.
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

// PageSize returns the size to begin with, and the largest; 0 for what is not known.
func (s Server) PageSize(now time.Time) (size, most int) {
	if now.Sub(s.Pages.At) >= loadLife {
		return 0, 0
	}
	return s.Pages.Size, s.Pages.Most
}

// after is the load after an export. A limit is believed for as long as limitLife from its refusal, so that a server
// that has grown is asked for more one day.
func (l Load) after(met Experience, now time.Time, wasNew bool) (next Load, isNew bool) {
	isNew = wasNew
	if met.Limit > 0 {
		l.Limit, l.LimitAt, isNew = met.Limit, now, true
	}
	switch {
	case met.Trouble:
		isNew = isNew || l.Bears != met.Limit
		l.Bears, l.At = met.Limit, now
	case met.Bears > 0 && (met.Bears != l.Bears || isOld(l.At, now)):
		l.Bears, l.At, isNew = met.Bears, now, true
	}
	return l, isNew
}

// learnTypes adds of which types the patient has something.
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

// learnUnlisted adds which types the server answers that it does not list.
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

// maxName bounds what is kept of a name, in bytes.
const maxName = 100

// ReleaseOf names the release of a server's software by what its CapabilityStatement says of it. Of a server that
// states no version the date counts, without its time, which some servers take from their clock.
func ReleaseOf(software, version, date string) string {
	if version == "" {
		version = date[:min(len(date), len("2006-01-02"))]
	}
	return strings.ToValidUTF8(software[:min(len(software), maxName)]+" "+version[:min(len(version), maxName)], "")
}
