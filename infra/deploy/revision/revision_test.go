package revision_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/deploy/revision"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/release"
)

func git(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	command := exec.Command("git", append([]string{
		"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org",
	}, arguments...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := command.Output()
	expect.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func TestRevisionHasVersionAndCommit(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	version := filepath.Join(folder, ".version")
	expect.NoError(t, os.WriteFile(version, []byte("1.2.3\n"), 0o600))
	check := func(commit string) {
		t.Helper()
		got, err := revision.Of(t.Context(), folder)
		if want := (release.Release{Version: "1.2.3", Commit: commit}); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	check(revision.Unknown)
	git(t, folder, "init", "-q")
	git(t, folder, "add", ".")
	git(t, folder, "commit", "-qm", "all")
	git(t, folder, "tag", "-a", "v9", "-m", "a tag, which is not part of the commit")
	commit := git(t, folder, "rev-parse", "HEAD")[:12]
	check(commit)
	expect.NoError(t, os.WriteFile(version, []byte("1.2.3\n\n"), 0o600))
	check(commit + "-changed")
}

func TestRevisionFailsWhenVersionIsMissing(t *testing.T) {
	t.Parallel()
	if got, err := revision.Of(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), ".version") {
		t.Errorf("got %+v, %v, want an error that names .version", got, err)
	}
}
