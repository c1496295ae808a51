package policy_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheNextEndpointApplies: CONTRIBUTING.md shows what a new endpoint takes as a diff, for git apply.
func TestTheNextEndpointApplies(t *testing.T) {
	t.Parallel()
	_, shown, found := strings.Cut(string(need(t, tree).Text("CONTRIBUTING.md")), "```diff\n")
	if !found {
		t.Fatal("CONTRIBUTING.md shows no diff")
	}
	diff, _, _ := strings.Cut(shown, "```")
	apply := exec.CommandContext(t.Context(), "git", "apply", "--check", "-")
	apply.Dir, apply.Stdin = root, strings.NewReader(diff)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Errorf("git apply --check: %v\n%s", err, out)
	}
}
