package operator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/operator"
	"recordbridge/shared/testkit/expect"
)

// calls tells which names each function of the package calls, by its name; exported methods with their type. What a local variable is
// asked is told with its name, which is followed nowhere.
func calls(t *testing.T) map[string][]string {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0) //nolint:staticcheck // no build tags here
	expect.NoError(t, err)
	found := map[string][]string{}
	for _, file := range packages["operator"].Files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil && f.Name.IsExported() {
				name = strings.TrimPrefix(typeName(f.Recv.List[0].Type), "*") + "." + name
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					called := n.Sel.Name
					x, isName := n.X.(*ast.Ident)
					switch isOwn := isName && f.Recv != nil && x.Name == f.Recv.List[0].Names[0].Name; {
					case isOwn && n.Sel.IsExported():
						called = strings.TrimPrefix(typeName(f.Recv.List[0].Type), "*") + "." + called
					case isName && !isOwn:
						called = x.Name + "." + called
					}
					found[name] = append(found[name], called)
				case *ast.CallExpr:
					if called, ok := n.Fun.(*ast.Ident); ok {
						found[name] = append(found[name], called.Name)
					}
				}
				return true
			})
		}
	}
	return found
}

func typeName(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// reached are the names that a function calls, itself or through others of the package.
func reached(all map[string][]string, from string) map[string]bool {
	seen, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		for _, name := range all[next[0]] {
			if !seen[name] {
				seen[name] = true
				next = append(next, name)
			}
		}
		next = next[1:]
	}
	return seen
}

// TestEveryChangeIsAudited goes over all that an operator can do: it leaves an audit row, or it is one of these, which change nothing.
func TestEveryChangeIsAudited(t *testing.T) {
	t.Parallel()
	reads := []string{
		"Catalog.Preview", "Catalog.Report", "Catalog.Search", "Catalog.Show", "Catalog.Source", "Catalog.Sources", "Clients.List", "Clients.PublicKeys",
		"Clients.Show", "Connections.Any", "Connections.Erasure", "Connections.List", "Connections.Show", "Credentials.List", "Credentials.Show", "Credentials.Uses", "Credentials.Within", "EndpointHealth.Report", "Endpoints.List", "Endpoints.Show",
		"Exports.List", "Exports.Show", "Inquiries.List", "Inquiries.Queue", "Inquiries.Show", "Log.Search", "Log.Show", "Organisations.Deletion", "Organisations.List", "Organisations.LiveChecklist", "Organisations.LiveRequests", "Organisations.Show", "Registrations.Callback", "Registrations.InEffect",
		"Registrations.List", "Webhooks.List", "Webhooks.Show",
	}
	// Their rows are those of account/members and disconnect, whose tests look at them.
	elsewhere := []string{"Connections.Disconnect", "Organisations.InviteOwner", "Organisations.Recover", "Organisations.StopRecovery"}
	all, subjects := calls(t), reflect.TypeFor[operator.Operator]()
	var quiet []string
	for subject := range subjects.Fields() {
		for method := range subject.Type.Methods() {
			name := subject.Type.Name() + "." + method.Name
			if all[name] == nil {
				t.Fatalf("there is no %s in the package", name)
			}
			if !reached(all, name)["record"] && !slices.Contains(elsewhere, name) {
				quiet = append(quiet, name)
			}
		}
	}
	slices.Sort(quiet)
	if !slices.Equal(reads, quiet) {
		t.Errorf("without an audit row are\n%q, want only\n%q", quiet, reads)
	}
	writes := slices.Collect(maps.Keys(writing()))
	for _, name := range quiet {
		for called := range reached(all, name) {
			if slices.Contains(writes, called[strings.LastIndexByte(called, '.')+1:]) {
				t.Errorf("%s leaves no audit row and calls %s", name, called)
			}
		}
	}
}

// writing are the methods of what an operator is given that answer with nothing but an error, which is all that writes.
func writing() map[string]bool {
	found := map[string]bool{}
	deps := reflect.TypeFor[operator.Deps]()
	var add func(of reflect.Type)
	add = func(of reflect.Type) {
		if of.Kind() == reflect.Interface {
			for m := range of.Methods() {
				if m.Type.NumOut() == 1 && m.Type.Out(0) == reflect.TypeFor[error]() {
					found[m.Name] = true
				}
			}
		}
		if of.Kind() == reflect.Struct && strings.HasSuffix(of.PkgPath(), "shared/operator") {
			for part := range of.Fields() {
				add(part.Type)
			}
		}
	}
	add(deps)
	return found
}
