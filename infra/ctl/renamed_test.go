package main

import (
	"strings"
	"testing"
)

func TestRenamedCommandErrorStatesNewSpelling(t *testing.T) {
	t.Chdir(t.TempDir())
	all := commands()
	for _, r := range renamed() {
		former, current := r.former, r.current
		for _, line := range []string{former + " -id 1", "help " + former} {
			err := run(t.Context(), strings.Fields(line), to(&strings.Builder{}))
			if exitCode(err) != 2 || errorText(err) != "ctl "+former+" is now ctl "+current {
				t.Errorf("%s: exit code %d, %v", line, exitCode(err), err)
			}
		}
		words, _, _ := strings.Cut(current, " -")
		found, err := all.find(strings.Fields(words))
		if err != nil {
			t.Errorf("%s leads to %s: %v", former, current, err)
		}
		if _, flag, ok := strings.Cut(current, " -"); ok && !strings.Contains(found.flags, "-"+strings.Fields(flag)[0]) {
			t.Errorf("%s leads to -%s, which %s doesn't have", former, flag, found.name)
		}
	}
}
