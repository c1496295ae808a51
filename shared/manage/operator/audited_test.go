package operator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
)

// calls returns the names that each function in the package calls. Exported methods are listed with their type. A call
// to a method of a local variable is listed under the variable's name and not followed.
func calls(t *testing.T) map[string][]string {
	t.Helper()
	product := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	//nolint:staticcheck // no build tags here
	packages, err := parser.ParseDir(token.NewFileSet(), ".", product, 0)
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
					hasReceiver := f.Recv != nil && len(f.Recv.List[0].Names) > 0
					switch isOwn := isName && hasReceiver && x.Name == f.Recv.List[0].Names[0].Name; {
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

// reached returns the names that a function calls, directly or through other functions in the package.
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

var constructors = map[string]any{
	"NewCatalog": operator.NewCatalog, "NewCatalogOverrides": operator.NewCatalogOverrides,
	"NewCatalogSources": operator.NewCatalogSources,
	"NewClientKeys":     operator.NewClientKeys, "NewClients": operator.NewClients,
	"NewConnections": operator.NewConnections,
	"NewCredentials": operator.NewCredentials, "NewDeletions": operator.NewDeletions,
	"NewDeliveries":     operator.NewDeliveries,
	"NewEndpointHealth": operator.NewEndpointHealth, "NewEndpoints": operator.NewEndpoints,
	"NewErasures": operator.NewErasures,
	"NewExports":  operator.NewExports, "NewInquiries": operator.NewInquiries, "NewJournal": operator.NewJournal,
	"NewLiveAccess": operator.NewLiveAccess, "NewLiveReviews": operator.NewLiveReviews, "NewLog": operator.NewLog,
	"NewMembers": operator.NewMembers, "NewNoticeAddresses": operator.NewNoticeAddresses,
	"NewOrganisations": operator.NewOrganisations,
	"NewRegistrations": operator.NewRegistrations, "NewReseals": operator.NewReseals, "NewRestores": operator.NewRestores,
	"NewSetup": operator.NewSetup, "NewSuspensions": operator.NewSuspensions, "NewWebhooks": operator.NewWebhooks,
}

func TestConstructorsListIsComplete(t *testing.T) {
	t.Parallel()
	for name := range calls(t) {
		if strings.HasPrefix(name, "New") && constructors[name] == nil {
			t.Errorf("%s is not among the constructors of this test", name)
		}
	}
}

func TestMutatingMethodsWriteAuditRows(t *testing.T) {
	t.Parallel()
	reads := []string{
		"Catalog.Preview", "Catalog.Report", "Catalog.Search", "Catalog.Show", "CatalogSources.List", "CatalogSources.Show",
		"ClientKeys.PublicKeys",
		"Clients.List", "Connections.List", "Connections.Show", "Credentials.List", "Credentials.Revocable",
		"Credentials.Show",
		"Credentials.Uses",
		"Credentials.Within", "Deletions.Show", "Deliveries.CountFailed", "EndpointHealth.Report", "Endpoints.List",
		"Endpoints.Show", "Erasures.Show", "Exports.List",
		"Exports.Show", "Inquiries.List", "Inquiries.Queue", "Inquiries.Show", "LiveAccess.Checklist", "LiveReviews.List",
		"Log.Search", "Log.Show",
		"Organisations.List", "Organisations.Show", "Registrations.Callback", "Registrations.InEffect", "Registrations.List",
		"Setup.Show",
		"Webhooks.List", "Webhooks.Show",
	}
	// The tests in account/members cover these methods' audit rows.
	elsewhere := []string{"Members.InviteOwner", "Members.Recover", "Members.StopRecovery"}
	all := calls(t)
	var quiet []string
	for _, constructor := range constructors {
		subject := reflect.TypeOf(constructor).Out(0)
		for method := range subject.Methods() {
			name := subject.Name() + "." + method.Name
			if method.Name == "As" {
				continue
			}
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
	writes := writing()
	for _, name := range quiet {
		for called := range reached(all, name) {
			if writes[called[strings.LastIndexByte(called, '.')+1:]] {
				t.Errorf("%s leaves no audit row and calls %s", name, called)
			}
		}
	}
}

// writing returns the methods that write: those methods of a constructor's interface parameters that return only an
// error.
func writing() map[string]bool {
	found := map[string]bool{}
	for _, constructor := range constructors {
		for parameter := range reflect.TypeOf(constructor).Ins() {
			if parameter.Kind() != reflect.Interface {
				continue
			}
			for m := range parameter.Methods() {
				if m.Type.NumOut() == 1 && m.Type.Out(0) == reflect.TypeFor[error]() {
					found[m.Name] = true
				}
			}
		}
	}
	return found
}
