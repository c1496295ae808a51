package policy

import (
	"go/ast"
	"path"
	"reflect"
	"strconv"
	"strings"

	"recordbridge/infra/local/template"
)

// Environments reports variables that a function reads but the template does not set, and variables that are set but
// not read. Without this rule, a missing variable would not be noticed until the function starts, and an unused
// variable would never be noticed. A required variable must have a non-empty value. A function reads the fields of its
// Environment struct, including those of embedded structs.
func Environments(t *Tree, functions []template.Function) []Finding {
	var found findings
	structs := t.structs()
	for _, f := range functions {
		read := map[string]bool{}
		structs.variables(symbol{module + "functions/" + f.Folder + "/wiring", "Environment"}, read)
		// environment variables that every function reads
		structs.variables(symbol{module + "shared/platform/lambdarun", "environment"}, read)
		for name, required := range read {
			value, set := f.Environment[name]
			switch {
			case !set:
				found.addf(f.LogicalID, "the function reads %s, which template.yaml does not set", name)
			case required && value == "":
				found.addf(f.LogicalID, "the function requires %s, which is empty by default", name)
			}
		}
		for name := range f.Environment {
			if _, ok := read[name]; !ok {
				found.addf(f.LogicalID, "template.yaml sets %s, which the function does not read", name)
			}
		}
	}
	return found.sorted()
}

// structs maps package-level structs in production code to their fields.
type structs map[symbol][]structField

// structField is an embedded struct or a field with a tag.
type structField struct {
	embedded symbol
	tag      reflect.StructTag
}

func (t *Tree) structs() structs {
	all := structs{}
	for _, f := range t.production() {
		own, imports := module+path.Dir(f.Path), imported(f.Go)
		for _, d := range f.Go.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if body, ok := spec.Type.(*ast.StructType); ok {
					all[symbol{own, spec.Name.Name}] = fieldsOf(body, own, imports)
				}
			}
		}
	}
	return all
}

func fieldsOf(body *ast.StructType, own string, imports map[string]string) []structField {
	all := make([]structField, 0, len(body.Fields.List))
	for _, field := range body.Fields.List {
		var f structField
		if field.Tag != nil {
			tag, _ := strconv.Unquote(field.Tag.Value) // can't fail, because the compiler has already parsed the tag
			f.tag = reflect.StructTag(tag)
		}
		if len(field.Names) == 0 {
			switch part := field.Type.(type) {
			case *ast.Ident:
				f.embedded = symbol{own, part.Name}
			case *ast.SelectorExpr:
				if x, ok := part.X.(*ast.Ident); ok {
					f.embedded = symbol{imports[x.Name], part.Sel.Name}
				}
			}
		}
		all = append(all, f)
	}
	return all
}

// variables adds the environment variables of a struct and its embedded structs to into. An entry's value reports
// whether the variable is required.
func (s structs) variables(of symbol, into map[string]bool) {
	for _, field := range s[of] {
		if field.embedded != (symbol{}) {
			s.variables(field.embedded, into)
		}
		if env, tagged := field.tag.Lookup("env"); tagged {
			name, options, _ := strings.Cut(env, ",")
			into[name] = options == "required"
		}
	}
}

// symbol is a name declared at package level.
type symbol struct{ importPath, name string }

// imported returns the import paths of the module's packages that a file imports, keyed by local name.
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
