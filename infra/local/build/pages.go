package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"
)

// Pages copies the output of make ui and make site from root to the serving function's directory below out, as a
// deployment does. If an output is missing, Pages only prints a message, because everything except the pages works
// without it. An up-to-date copy is not touched, because another runner's function may be loading it.
func Pages(root, out string, progress io.Writer) error {
	isComplete := true
	for _, folder := range []string{"ui", "site"} {
		from, to := filepath.Join(root, "build", folder), filepath.Join(out, "web", folder)
		_, err := os.Stat(filepath.Join(from, "manifest.json"))
		if errors.Is(err, fs.ErrNotExist) {
			isComplete = false
			err = os.RemoveAll(to)
		} else {
			err = mirror(from, to)
		}
		if err != nil {
			return fmt.Errorf("pages: %w", err)
		}
	}
	if !isComplete {
		// a closed terminal must not stop the build
		_, _ = fmt.Fprintln(progress, "Skipping the widget, its hosted page, the playground or the documentation site, "+
			"because building them requires Node 20 or later. All other parts run.")
	}
	return nil
}

// mirror makes the directory to a copy of from. A lock serialises runners of the same checkout.
func mirror(from, to string) error {
	want, err := contents(from)
	if err != nil {
		return err
	}
	parent := filepath.Dir(to)
	if err = os.MkdirAll(parent, 0o750); err != nil {
		return err
	}
	lock, err := os.Open(parent) //nolint:gosec // below the checkout's build directory
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // releases the lock
	if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if isCopy(to, want) {
		return nil
	}
	work, err := os.MkdirTemp(parent, "."+filepath.Base(to)+"-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // nothing serves a leftover
	replacement := filepath.Join(work, "new")
	if err = os.CopyFS(replacement, os.DirFS(from)); err != nil {
		return err
	}
	if err = os.Rename(to, filepath.Join(work, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(replacement, to)
}

// isCopy reports whether a directory contains exactly the files in want.
func isCopy(directory string, want map[string][]byte) bool {
	got, err := contents(directory)
	return err == nil && maps.EqualFunc(got, want, bytes.Equal)
}

// contents returns the files below a directory by path.
func contents(directory string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	tree := os.DirFS(directory)
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(tree, path)
		return err
	})
	return files, err
}
