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

// Package describes a package as reported by go list, without its tests.
type Package struct {
	ImportPath string
	Imports    []string // direct imports
	Deps       []string // direct and indirect dependencies
}

// List returns go list's description of every package in the module at root. List uses the functions' build options,
// because other options could link other packages (docs/develop/architecture.md, "Builds").
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

// under reports whether an import path is folder itself or below it. The folder may be outside the module.
func under(importPath, folder string) bool {
	return importPath == folder || strings.HasPrefix(importPath, folder+"/")
}

// function splits the import path of a function's package into the folder below functions/ and the rest of the path.
// part is "", "wiring", "bootstrap" or a package that belongs to the function.
func function(importPath string) (name, part string, ok bool) {
	rest, ok := strings.CutPrefix(importPath, module+"functions/")
	name, part, _ = strings.Cut(rest, "/")
	return name, part, ok
}

// module is the import path prefix of all packages in the repository.
const module = "recordbridge/"

// Finding is a violation of a rule.
type Finding struct {
	Where string // path, path:line, import path, or logical ID in the template
	What  string
}

// String formats the finding as a line of test output.
func (f Finding) String() string { return f.Where + ": " + f.What }

type findings []Finding

func (f *findings) addf(where, format string, args ...any) {
	*f = append(*f, Finding{where, fmt.Sprintf(format, args...)})
}

// sorted returns the findings in sorted order without duplicates, so that the output does not depend on map order.
func (f *findings) sorted() []Finding {
	slices.SortFunc(*f, func(a, b Finding) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(*f)
}
