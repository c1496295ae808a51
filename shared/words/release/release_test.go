package release_test

import (
	"testing"
	"time"

	"recordbridge/shared/words/release"
)

func TestParseInvertsName(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]release.Release{
		"1764420000-0.1.0-1a2b3c4d5e6f":         {Version: "0.1.0", Commit: "1a2b3c4d5e6f"},
		"0000000001-0.1.0-1a2b3c4d5e6f-changed": {Version: "0.1.0", Commit: "1a2b3c4d5e6f-changed"},
	} {
		at := time.Unix(1764420000, 0)
		if name[0] == '0' {
			at = time.Unix(1, 0)
		}
		if got := r.Name(at); got != name {
			t.Errorf("got the name %q, want %q", got, name)
		}
		if got := release.Parse(name); got != r {
			t.Errorf("%q: got %+v, want %+v", name, got, r)
		}
	}
}

func TestParseReturnsZeroReleaseWhenNameHasOtherFormat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "1764420000", "thisrelease", "1764420000-0.1.0", "release-0.1.0-1a2b3c4d5e6f"} {
		if got := release.Parse(name); got != (release.Release{}) {
			t.Errorf("%q: got %+v, want the zero release", name, got)
		}
	}
}
