package policy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Package is what the go command says of one package. Tests and their imports are no part of it.
type Package struct {
	ImportPath string
	Imports    []string // direct ones
	Deps       []string // all of them, through others too
}

// List asks the go command for every package of the module in root, as the functions are built (docs/develop/architecture.md,
// "Builds"): another build could link other packages.
func List(ctx context.Context, root string) ([]Package, error) {
	list := exec.CommandContext(ctx, "go", "list", "-tags", "lambda.norpc,grpcnotrace",
		"-json=ImportPath,Imports,Deps", "./...")
	list.Dir = root
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaint.String())
	}
	var packages []Package
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// under tells whether an import path is folder or stands below it; folder may be outside the module.
func under(importPath, folder string) bool {
	return importPath == folder || strings.HasPrefix(importPath, folder+"/")
}

// function gives the folder below functions/ and what stands behind it: "", "wiring", "bootstrap" or a package of the
// function's own.
func function(importPath string) (name, part string, ok bool) {
	rest, ok := strings.CutPrefix(importPath, module+"functions/")
	name, part, _ = strings.Cut(rest, "/")
	return name, part, ok
}

// module is the path that every package of the repository starts with.
const module = "recordbridge/"

// Finding is one breach of a rule.
type Finding struct {
	Where string // a path, path:line, import path, or logical id of the template
	What  string
}

// String gives the line that a test prints.
func (f Finding) String() string { return f.Where + ": " + f.What }

// findings collects breaches.
type findings []Finding

// addf adds one.
func (f *findings) addf(where, format string, args ...any) {
	*f = append(*f, Finding{where, fmt.Sprintf(format, args...)})
}

// sorted gives them in the order of their text, each once, so that a run's output does not depend on map order.
func (f *findings) sorted() []Finding {
	slices.SortFunc(*f, func(a, b Finding) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(*f)
}
