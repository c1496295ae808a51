package build

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Pages puts what make ui has built, below root, beside the function that serves it, below out, as a deployment does. Where nothing was
// built, the line that says so is all: everything else works.
func Pages(root, out string, progress io.Writer) error {
	from, to := filepath.Join(root, "build", "ui"), filepath.Join(out, "web", "ui")
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	if _, err := os.Stat(filepath.Join(from, "manifest.json")); errors.Is(err, fs.ErrNotExist) {
		_, _ = fmt.Fprintln(progress, "No pages: the widget, its hosted page and the playground need Node 20 or later. Everything else runs.") // a closed terminal stops no build
		return nil
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	return nil
}
