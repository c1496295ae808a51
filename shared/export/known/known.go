// Package known holds hints about the FHIR server behind an endpoint. The hints cover concurrency, page size, batches
// and the order of searches. Exports learn hints that later exports use as a starting point. Hints never make an export
// skip a type that the server lists. If the server neither lists nor supports a type, exports don't try the type again
// until the hint expires.
package known

import (
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// loadLife is the lifetime of a concurrency level that the server handled. limitLife is the lifetime of a
	// concurrency level that the server refused. limitLife is finite because an export can't distinguish a concurrency
	// limit from a rate limit.
	loadLife  = 7 * 24 * time.Hour
	limitLife = 24 * time.Hour
	// typeLife is the time for which a type counts as non-empty after a patient had a resource of that type.
	typeLife = 30 * 24 * time.Hour
	// batchLife is the lifetime of a batch trial's result.
	batchLife = 30 * 24 * time.Hour
	// trialLife is the period for which a trial's result remains valid for a type that the server does not list.
	trialLife = 30 * 24 * time.Hour
	// Life is the lifetime of a stored row unless an export renews it.
	Life = 60 * 24 * time.Hour
	// renewAfter is the age after which an unchanged fact is stored again.
	renewAfter = 24 * time.Hour
	// maxTypes limits the length of each list of types, regardless of how many types a server lists.
	maxTypes = 200
)

// Server holds the facts learned about a single server. The zero value means that nothing has been learned.
type Server struct {
	Release string          `json:"release,omitempty"` // release of the server software, as returned by ReleaseOf
	Load    Load            `json:"load,omitzero"`
	Types   map[string]Type `json:"types,omitempty"` // types that exports have searched
	Batch   Trial           `json:"batch,omitzero"`  // whether the server supports batches of searches
	Pages   Pages           `json:"pages,omitzero"`

	// whether the server responds to searches, keyed by type, for types that the CapabilityStatement does not list
	Unlisted map[string]Trial `json:"unlisted,omitempty"`
	// whether the server supports _revinclude=Provenance:target without listing it in its CapabilityStatement
	Attaches Trial `json:"attaches,omitzero"`
}

// Pages holds the page sizes that work best.
type Pages struct {
	Size int       `json:"size,omitempty"` // initial page size; negative to omit it, 0 if unknown
	Most int       `json:"most,omitempty"` // server's maximum page size; 0 if unknown
	At   time.Time `json:"at,omitzero"`
}

// Answers reports whether the server responds to searches for a type that its CapabilityStatement does not list. The
// isKnown result is false if no export has tried such a search.
func (s Server) Answers(resourceType string, now time.Time) (answers, isKnown bool) {
	trial := s.Unlisted[resourceType]
	return trial.Works, trial.Counts(now, trialLife)
}

// AttachesProvenance reports whether the server supports _revinclude of Provenance although its CapabilityStatement
// does not list it. The isKnown result is false if no export has tried _revinclude.
func (s Server) AttachesProvenance(now time.Time) (attaches, isKnown bool) {
	return s.Attaches.Works, s.Attaches.Counts(now, trialLife)
}

// Load holds the concurrency levels that the server has handled or refused.
type Load struct {
	Handled int       `json:"bears,omitempty"` // concurrent requests handled without strain; after trouble, limit or 0
	At      time.Time `json:"at,omitzero"`
	Limit   int       `json:"limit,omitempty"` // highest concurrency level below a refused one; 0 if none was refused
	LimitAt time.Time `json:"limit_at,omitzero"`
}

// Type records when a patient last had resources of a type and when one last had none.
type Type struct {
	Found time.Time `json:"found,omitzero"` // time at which a patient last had a resource of the type
	Empty time.Time `json:"empty,omitzero"` // time at which a patient last had no resource of the type
}

// Trial records whether an optional feature of the server worked.
type Trial struct {
	Works bool      `json:"works"`
	At    time.Time `json:"at,omitzero"` // time of the trial; zero if never tried
}

// Counts reports whether the trial took place less than life ago.
func (t Trial) Counts(now time.Time, life time.Duration) bool {
	return !t.At.IsZero() && now.Sub(t.At) < life
}

// after returns the trial updated with an export's result. The worked argument is nil if the export did not try the
// feature.
func (t Trial) after(worked *bool, now time.Time) (next Trial, isNew bool) {
	if worked == nil || *worked == t.Works && !isOld(t.At, now) {
		return t, false
	}
	return Trial{Works: *worked, At: now}, true
}

// InFlight returns the initial and maximum numbers of concurrent requests for an export. Zero means unknown.
func (s Server) InFlight(now time.Time) (begin, limit int) {
	if now.Sub(s.Load.At) < loadLife {
		begin = s.Load.Handled
	}
	if now.Sub(s.Load.LimitAt) < limitLife {
		limit = s.Load.Limit
	}
	return begin, limit
}

// IsEmpty reports whether none of the recently exported patients had resources of a type.
func (s Server) IsEmpty(resourceType string, now time.Time) bool {
	one := s.Types[resourceType]
	return !one.Empty.IsZero() && now.Sub(one.Empty) < typeLife && (one.Found.IsZero() || now.Sub(one.Found) >= typeLife)
}

// IsKnown reports whether an export has ever searched for the type.
func (s Server) IsKnown(resourceType string) bool { return s.Types[resourceType] != (Type{}) }

// Batches reports whether to try a batch of searches. It returns true unless a batch has failed recently.
func (s Server) Batches(now time.Time) bool { return s.Batch.Works || !s.Batch.Counts(now, batchLife) }

// Of returns the facts that still apply to a server running the given release. If the server's release has changed,
// facts that may depend on it are dropped.
func (s Server) Of(release string) Server {
	if s.Release != release {
		s.Batch, s.Pages, s.Unlisted, s.Attaches = Trial{}, Pages{}, nil, Trial{}
	}
	s.Release = release
	return s
}

// Lesson holds what a single export has learned about a server.
type Lesson struct {
	Release string
	Load    Experience
	Found   []string // types with resources in the patient's record
	Empty   []string // types whose complete search found no resources
	Batch   *bool    // whether batches work; nil if never tried
	Pages   Pages    // zero if the export learned nothing; At is never set

	Unlisted map[string]bool // whether the server responded to a trial search, by type
	Attaches *bool           // whether _revinclude of Provenance works; nil if never tried
}

// Experience summarises an export's concurrent requests.
type Experience struct {
	Handled int  `json:"Bears"` // concurrent requests handled without strain; 0 if the export sent too few to judge
	Limit   int  // highest concurrency level below a refused one; 0 if none was refused
	Trouble bool // whether the server refused requests or came close to its limit
}

// Learn returns the facts updated with the lessons of an export that ended at now. The isNew result is false if the
// export learned nothing new.
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

// PageSize returns the initial and maximum page sizes. Zero means unknown.
func (s Server) PageSize(now time.Time) (size, most int) {
	if now.Sub(s.Pages.At) >= loadLife {
		return 0, 0
	}
	return s.Pages.Size, s.Pages.Most
}

// after returns the load updated with an export's observations. A limit expires limitLife after the refusal that set
// it, so a server whose limit was raised eventually gets more requests.
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

// learnTypes updates the times at which types were last found and last empty.
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

// learnUnlisted adds the results of trial searches for types that the server's CapabilityStatement does not list.
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

// maxName is the maximum length of a stored name, in bytes.
const maxName = 100

// ReleaseOf returns a name for a server's software release, based on its CapabilityStatement. If the
// CapabilityStatement does not contain a version, ReleaseOf uses its date. ReleaseOf omits the time of day, because
// some servers fill it from their clock.
func ReleaseOf(software, version, date string) string {
	if version == "" {
		version = date[:min(len(date), len("2006-01-02"))]
	}
	return strings.ToValidUTF8(software[:min(len(software), maxName)]+" "+version[:min(len(version), maxName)], "")
}
