package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"recordbridge/infra/local/template"
)

const (
	// MaxBinary is the maximum size, in bytes, of the binary of a function behind the API. A larger binary would slow
	// down cold starts, for which clients wait. Functions triggered by a queue or a schedule have no such limit.
	MaxBinary = 12_000_000
	// builtFolder is the folder in which `make build` creates a subfolder for each function's binary.
	builtFolder = "build/arm64"
)

// Binaries reports functions with routes whose binary is too large, functions that were not built, and binaries that
// belong to no function. fsys is the repository's root after make build. Binaries returns an error if make build has
// not been run.
func Binaries(fsys fs.FS, functions []template.Function) ([]Finding, error) {
	entries, err := fs.ReadDir(fsys, builtFolder)
	if err != nil {
		return nil, fmt.Errorf("run make build: %w", err)
	}
	var found findings
	for _, e := range entries {
		if !slices.ContainsFunc(functions, func(f template.Function) bool { return f.Folder == e.Name() }) {
			found.addf(path.Join(builtFolder, e.Name()), "there is no such function: make clean")
		}
	}
	for _, f := range functions {
		file := path.Join(builtFolder, f.Folder, "bootstrap")
		info, err := fs.Stat(fsys, file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			found.addf(file, "was not built")
		case err != nil:
			return nil, fmt.Errorf("look at %s: %w", file, err)
		case len(f.Routes) > 0 && info.Size() > MaxBinary:
			found.addf(file, "has %.2f MB, more than %.0f", float64(info.Size())/1e6, MaxBinary/1e6)
		}
	}
	return found.sorted(), nil
}
