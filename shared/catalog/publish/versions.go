package publish

import (
	"slices"
	"time"

	"recordbridge/shared/catalog/ledger"
)

const (
	// keepVersions is how many versions stay to go back to, and keepFor how long all of them do: cursors of
	// searches name them for a day.
	keepVersions = 20
	keepFor      = 7 * 24 * time.Hour
)

// advance makes a version live, and tells which ones are kept no longer: those that are neither among the last, of
// which the one that was live until now is the last but one, nor young.
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

// kept reports whether a version that is not live can become so again.
func kept(p ledger.Pointer, v ledger.Version) bool { return v != p.Live && slices.Contains(p.Kept, v) }
