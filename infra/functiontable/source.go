package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source determines which files in shared/ each function uses.
type source struct {
	root     string
	declared map[string]map[string]string // file that declares each function or type with methods, by folder and name
}

// plumbing lists the folders and packages that the table omits because most functions use them.
var plumbing = []string{
	"shared/words/", "shared/ui/", "shared/wiring/edge/", "shared/wiring/outbound/", "shared/wiring/ownurls/",
	"shared/platform/lambdarun", "shared/platform/config",
	"shared/adapters/httpapi", "shared/adapters/kms", "shared/adapters/queue", "shared/adapters/window",
}

// files returns the files that declare the functions and types used in a function's handler and wiring. The returned
// files are Markdown links relative to docs/develop. The files of the domain packages precede those of the adapters.
func (s *source) files(function string) ([]string, error) {
	var domain, adapters []string
	folders := []string{"functions/" + function, "functions/" + function + "/wiring"}
	for i := 0; i < len(folders); i++ {
		used, err := s.used(folders[i])
		if err != nil {
			return nil, err
		}
		for _, file := range used {
			switch {
			case strings.HasPrefix(file, "shared/adapters/"):
				adapters = append(adapters, file)
			case !strings.HasPrefix(file, "shared/wiring/"):
				domain = append(domain, file)
			case !slices.Contains(folders, path.Dir(file)):
				folders = append(folders, path.Dir(file)) // a wiring package shared by several functions
			}
		}
	}
	slices.Sort(domain)
	slices.Sort(adapters)
	var links []string
	for _, file := range append(slices.Compact(domain), slices.Compact(adapters)...) {
		text := strings.TrimPrefix(strings.TrimPrefix(file, "shared/"), "adapters/")
		links = append(links, fmt.Sprintf("[%s](../../%s)", text, file))
	}
	return links, nil
}

// used returns the files that declare the identifiers that a folder uses from other packages.
func (s *source) used(folder string) ([]string, error) {
	parsed, err := s.parse(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range parsed {
		folders := imported(f)
		ast.Inspect(f, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok || err != nil {
				return err == nil
			}
			if of, ok := selector.X.(*ast.Ident); ok && folders[of.Name] != "" {
				var declared map[string]string
				declared, err = s.declarations(folders[of.Name])
				if file := declared[selector.Sel.Name]; file != "" {
					files = append(files, file)
				}
			}
			return true
		})
	}
	return files, err
}

// imported maps local package names to folders, for all shared/ packages that a file imports, except plumbing.
func imported(f *ast.File) map[string]string {
	folders := map[string]string{}
	for _, spec := range f.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value) // can't fail, because the parser has accepted the path
		folder, ours := strings.CutPrefix(importPath, "recordbridge/")
		isPlumbing := func(prefix string) bool { return strings.HasPrefix(folder+"/", prefix) }
		if !ours || !strings.HasPrefix(folder, "shared/") || slices.ContainsFunc(plumbing, isPlumbing) {
			continue
		}
		name := path.Base(folder)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		folders[name] = folder
	}
	return folders
}

// declarations maps a folder's functions, and its types with methods, to the files that declare them.
func (s *source) declarations(folder string) (map[string]string, error) {
	if declared, ok := s.declared[folder]; ok {
		return declared, nil
	}
	parsed, err := s.parse(folder)
	if err != nil {
		return nil, err
	}
	declared := map[string]string{}
	for file, f := range parsed {
		addFunctions(declared, file, f)
	}
	for file, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				if _, hasMethods := declared[t.Name.Name]; hasMethods {
					declared[t.Name.Name] = file
				}
			}
			_, isFunc := n.(*ast.FuncDecl)
			return !isFunc
		})
	}
	if s.declared == nil {
		s.declared = map[string]map[string]string{}
	}
	s.declared[folder] = declared
	return declared, nil
}

// addFunctions adds a file's functions and its methods' receiver types, unless a receiver type already has a file.
func addFunctions(declared map[string]string, file string, f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		switch {
		case !ok:
		case fn.Recv == nil:
			declared[fn.Name.Name] = file
		default:
			declared[receiver(fn)] = ""
		}
	}
}

func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	if named, ok := t.(*ast.Ident); ok {
		return named.Name
	}
	return ""
}

// parse parses the files in a folder, except tests, and returns them by path relative to root.
func (s *source) parse(folder string) (map[string]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(s.root, folder, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", folder, err)
		}
		files[folder+"/"+filepath.Base(name)] = parsed
	}
	return files, nil
}
