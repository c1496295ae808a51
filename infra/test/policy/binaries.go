package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

const (
	// MaxBinary is how many bytes a function may have: 12 MB of a million each. What is larger starts later.
	MaxBinary = 12_000_000
	// builtFolder is where `make build` puts each function's folder with its binary.
	builtFolder = "build/arm64"
)

// Binaries finds functions whose binary is too large or was not built, and binaries of no function. fsys is the root of
// the repository after `make build`, functions are the folders below functions/. Its error says that nothing was built.
func Binaries(fsys fs.FS, functions []string) ([]Finding, error) {
	entries, err := fs.ReadDir(fsys, builtFolder)
	if err != nil {
		return nil, fmt.Errorf("run make build: %w", err)
	}
	var found findings
	for _, e := range entries {
		if !slices.Contains(functions, e.Name()) {
			found.addf(path.Join(builtFolder, e.Name()), "there is no such function: make clean")
		}
	}
	for _, name := range functions {
		file := path.Join(builtFolder, name, "bootstrap")
		info, err := fs.Stat(fsys, file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			found.addf(file, "was not built")
		case err != nil:
			return nil, fmt.Errorf("look at %s: %w", file, err)
		case info.Size() > MaxBinary:
			found.addf(file, "has %.2f MB, more than %.0f", float64(info.Size())/1e6, MaxBinary/1e6)
		}
	}
	return found.sorted(), nil
}
