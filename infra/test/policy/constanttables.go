package policy

import (
	"go/ast"
	"go/token"
	"slices"
)

// ConstantTables reports package-level tables (maps, slices and arrays) that their own package modifies. The linter
// allows such variables because Go has no constant tables. The rule compares names, so a local variable must not have
// the same name as a table.
func ConstantTables(t *Tree) []Finding {
	var found findings
	for _, files := range t.folders() {
		files = slices.DeleteFunc(files, File.isTest) // tests in an external package can't access the package's tables
		tables := tablesOf(files)
		for _, f := range files {
			ast.Inspect(f.Go, func(n ast.Node) bool {
				for _, changed := range changes(n) {
					if name := baseOf(changed); tables[name] {
						found.addf(t.where(n.Pos()), "changes the table %s", name)
					}
				}
				return true
			})
		}
	}
	return found.sorted()
}

// tablesOf returns the names of the package-level tables in a package's files.
func tablesOf(files []File) map[string]bool {
	tables := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Go.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				tabled(g, tables)
			}
		}
	}
	return tables
}

// tabled adds to tables the names of the variables that a declaration initialises as tables.
func tabled(g *ast.GenDecl, tables map[string]bool) {
	for _, s := range g.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok || len(spec.Names) != len(spec.Values) {
			continue
		}
		for i, value := range spec.Values {
			if made, ok := value.(*ast.CompositeLit); ok {
				switch made.Type.(type) {
				case *ast.MapType, *ast.ArrayType:
					tables[spec.Names[i].Name] = true
				}
			}
		}
	}
}

// changes returns the expressions that a statement or call modifies in place.
func changes(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.DeleteFunc(slices.Clone(n.Lhs), func(e ast.Expr) bool {
			_, isName := e.(*ast.Ident)
			return isName && n.Tok == token.DEFINE
		})
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.CallExpr:
		of, name := called(n)
		if f, ok := n.Fun.(*ast.Ident); ok {
			name = f.Name
		}
		inPlace := of == "" && slices.Contains([]string{"delete", "clear", "copy"}, name) ||
			of == "slices" &&
				slices.Contains([]string{
					"Sort", "SortFunc", "SortStableFunc", "Reverse", "DeleteFunc", "Delete",
					"Compact",
				}, name) ||
			of == "maps" && name == "Copy"
		if inPlace && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// baseOf returns the name of the variable that contains the element or field e.
func baseOf(e ast.Expr) string {
	for {
		switch inner := e.(type) {
		case *ast.IndexExpr:
			e = inner.X
		case *ast.SelectorExpr:
			e = inner.X
		case *ast.ParenExpr:
			e = inner.X
		case *ast.Ident:
			return inner.Name
		default:
			return ""
		}
	}
}
