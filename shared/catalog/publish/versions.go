package publish

import (
	"slices"
	"time"

	"recordbridge/shared/catalog/ledger"
)

const (
	// keepVersions is the number of versions kept for rollbacks. keepFor is the minimum time for which a version is
	// kept, because search cursors refer to it for up to a day.
	keepVersions = 20
	keepFor      = 7 * 24 * time.Hour
)

// advance makes a version live and returns the versions to delete. A version is deleted only if it is at least keepFor
// old and not among the last keepVersions, so the previously live version is never deleted.
func advance(seen ledger.Pointer, to ledger.Version, now time.Time) (next ledger.Pointer, old []ledger.Version) {
	all := append(slices.DeleteFunc(slices.Clone(seen.Kept), func(v ledger.Version) bool { return v == to }), to)
	next = ledger.Pointer{Mode: seen.Mode, Live: to, MovedAt: now}
	for i, v := range all {
		if last := len(all)-i <= keepVersions; last || now.Sub(v.MadeAt()) < keepFor {
			next.Kept = append(next.Kept, v)
		} else {
			old = append(old, v)
		}
	}
	return next, old
}

// kept reports whether a version that is not live can become live again.
func kept(p ledger.Pointer, v ledger.Version) bool { return v != p.Live && slices.Contains(p.Kept, v) }
