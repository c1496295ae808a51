// Package release names deployments. A deployment's name is the value of the stack parameter Release
// (docs/adr/0019-aliases-and-the-front.md).
package release

import (
	"fmt"
	"strings"
	"time"
)

// Release describes the build that a deployment contains.
type Release struct {
	Version string // newest version in the changelog, such as 0.1.0
	Commit  string // abbreviated Git commit; ends in -changed if the build had uncommitted changes
}

// Name returns the name of a deployment of r at the given time, such as 1764420000-0.1.0-1a2b3c4d5e6f. The time comes
// first, because SAM creates new function versions only if the name's first ten characters change.
func (r Release) Name(at time.Time) string {
	return fmt.Sprintf("%010d-%s-%s", at.Unix(), r.Version, r.Commit)
}

// Parse returns the release that a deployment's name describes. Names in any other format, such as an empty name,
// describe the zero Release.
func Parse(name string) Release {
	at, rest, _ := strings.Cut(name, "-")
	version, commit, ok := strings.Cut(rest, "-")
	if !ok || strings.Trim(at, "0123456789") != "" {
		return Release{}
	}
	return Release{Version: version, Commit: commit}
}
