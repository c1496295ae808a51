package policy

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// symbol is an exported name of a package.
type symbol struct{ importPath, name string }

// declaration is where a symbol is declared.
type declaration struct {
	symbol

	at token.Pos
	// public is true for functions and variables, which only a user outside their package needs exported. A type or
	// constant may also be exported because an exported signature or value is made of it.
	public bool
}

// UnusedExports finds exported functions, types, constants and variables that nothing uses: build what a function needs
// now, not what a package might want. In shared/ tests are no users. What stands in infra/ is
// for tests as well as for laptops, so there a test of another package is one. It goes by names, not by types: methods
// and fields are not looked at. excused gives the reason for each name ("shared/org.Inactive") that may stay although
// nothing uses it yet.
func UnusedExports(t *Tree, excused map[string]string) []Finding {
	production, elsewhere, inside := map[symbol]bool{}, map[symbol]bool{}, map[symbol]bool{}
	var declared []declaration
	for _, f := range t.Files {
		if f.Go == nil {
			continue
		}
		importPath := module + path.Dir(f.Path)
		for _, s := range selected(f.Go) {
			production[s] = production[s] || !f.isTest()
			elsewhere[s] = elsewhere[s] || s.importPath != importPath
		}
		if f.isTest() {
			continue
		}
		own := exported(f.Go, importPath)
		for _, s := range mentioned(f.Go, importPath, own) {
			inside[s] = true
		}
		if accountable(f) {
			declared = append(declared, own...)
		}
	}
	var found findings
	for _, d := range declared {
		used, users := production, "tests"
		if under(d.importPath, module+"infra") {
			used, users = elsewhere, "its own tests"
		}
		switch {
		case excused[strings.TrimPrefix(d.importPath, module)+"."+d.name] != "":
		case used[d.symbol] || !d.public && inside[d.symbol]:
		case inside[d.symbol]:
			found.addf(t.where(d.at), "%s is exported, but only its own package uses it", d.name)
		default:
			found.addf(t.where(d.at), "nothing but %s uses %s", users, d.name)
		}
	}
	return found.sorted()
}

// accountable tells whether what a file exports has to have a user: testkit and these rules are for tests alone, and a
// function's own packages are used by its own wiring.
func accountable(f File) bool {
	switch {
	case strings.HasPrefix(f.Path, "shared/testkit/"), strings.HasPrefix(f.Path, "infra/test/policy/"):
		return false
	}
	return strings.HasPrefix(f.Path, "shared/") || strings.HasPrefix(f.Path, "infra/")
}

// exported lists the exported package-level names that a file declares.
func exported(f *ast.File, importPath string) []declaration {
	var all []declaration
	add := func(name *ast.Ident, public bool) {
		if name.IsExported() {
			all = append(all, declaration{symbol{importPath, name.Name}, name.Pos(), public})
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name, true)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name, false)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						add(name, d.Tok == token.VAR)
					}
				}
			}
		}
	}
	return all
}

// imported gives the module's packages that a file imports, by the names it has for them.
func imported(f *ast.File) map[string]string {
	imports := map[string]string{}
	for _, i := range f.Imports {
		importPath, err := strconv.Unquote(i.Path.Value)
		if err != nil || !strings.HasPrefix(importPath, module) {
			continue
		}
		name := path.Base(importPath)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = importPath
	}
	return imports
}

// selected lists what a file uses of other packages of the module.
func selected(f *ast.File) []symbol {
	imports := imported(f)
	var used []symbol
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && imports[x.Name] != "" {
				used = append(used, symbol{imports[x.Name], s.Sel.Name})
			}
		}
		return true
	})
	return used
}

// mentioned lists the names that stand in a file by themselves, other than in their own declaration.
func mentioned(f *ast.File, importPath string, own []declaration) []symbol {
	elsewhere := make(map[*ast.Ident]bool, len(own)) // what stands for a declaration or something else's part
	declared := make([]token.Pos, 0, len(own))
	for _, d := range own {
		declared = append(declared, d.at)
	}
	var used []symbol
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			elsewhere[n.Sel] = true // a field, a method or another package's
		case *ast.FuncDecl:
			elsewhere[n.Name] = true
		case *ast.Field:
			for _, name := range n.Names {
				elsewhere[name] = true
			}
		case *ast.Ident:
			if n.IsExported() && !elsewhere[n] && !slices.Contains(declared, n.Pos()) {
				used = append(used, symbol{importPath, n.Name})
			}
		}
		return true
	})
	return used
}
