package build_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"recordbridge/infra/local/build"
	"recordbridge/infra/testkit/built"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/ui/pages"
)

func TestPageBuildCopiesPagesNextToFunction(t *testing.T) {
	t.Parallel()
	root, out := t.TempDir(), t.TempDir()
	var said strings.Builder
	expect.NoError(t, built.Into(filepath.Join(root, "build", "ui")))
	expect.NoError(t, built.SiteInto(filepath.Join(root, "build", "site")))
	expect.NoError(t, os.MkdirAll(filepath.Join(out, "web", "ui", "old"), 0o750))
	expect.NoError(t, build.Pages(root, out, &said))
	if _, err := pages.Load(os.DirFS(filepath.Join(out, "web", "ui"))); err != nil || said.String() != "" {
		t.Errorf("%v, said %q", err, &said)
	}
	if _, err := pages.LoadSite(os.DirFS(filepath.Join(out, "web", "site")), "/v1/docs"); err != nil {
		t.Error(err)
	}
	if _, err := fs.Stat(os.DirFS(out), "web/ui/old"); err == nil {
		t.Error("what was there before is still there")
	}
}

func TestPageBuildLeavesUpToDateCopyWhenRunnersStartAtOnce(t *testing.T) {
	t.Parallel()
	root, out := t.TempDir(), t.TempDir()
	served := filepath.Join(out, "web", "ui")
	expect.NoError(t, built.Into(filepath.Join(root, "build", "ui")))
	expect.NoError(t, built.SiteInto(filepath.Join(root, "build", "site")))
	start := func() {
		var runners errgroup.Group
		for range 8 {
			runners.Go(func() error { return build.Pages(root, out, io.Discard) })
		}
		expect.NoError(t, runners.Wait())
	}
	start()
	before, err := os.Stat(served)
	expect.NoError(t, err)
	start()
	if after, err := os.Stat(served); err != nil || !os.SameFile(before, after) {
		t.Error("the served folder was replaced by the same files")
	}
	expect.NoError(t, os.WriteFile(filepath.Join(served, "manifest.json"), []byte("{}"), 0o600))
	start()
	if _, err := pages.Load(os.DirFS(served)); err != nil {
		t.Errorf("after a change: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(served)); err != nil || len(left) != 2 {
		t.Errorf("folders %v, %v", left, err)
	}
}

func TestPageBuildRemovesStalePagesWhenBuildIsMissing(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	var said strings.Builder
	expect.NoError(t, os.MkdirAll(filepath.Join(out, "web", "ui"), 0o750))
	expect.NoError(t, build.Pages(t.TempDir(), out, &said))
	if strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), "requires Node 20") {
		t.Errorf("said %q", &said)
	}
	if _, err := os.Stat(filepath.Join(out, "web", "ui")); err == nil {
		t.Error("pages of an earlier build are still there")
	}
}
