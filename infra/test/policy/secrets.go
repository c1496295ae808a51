package policy

import (
	"go/ast"
	"slices"
	"strings"
)

// Revealed reports calls that pass a revealed secret (the result of secret.Text's Reveal method) to a function that
// produces a log line, a string or an error. The secret may be revealed in an argument, or in a variable that is passed
// to the call. The output of such a function may be stored, displayed or sent anywhere. A secret.Text itself may be
// passed because it redacts its content. The tests of shared/words/secret check every way to print a secret.Text.
func Revealed(t *Tree) []Finding {
	var found findings
	for _, f := range t.production() {
		for _, d := range f.Go.Decls {
			opened := map[string]bool{}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					remember(n, opened)
				case *ast.CallExpr:
					if producesText(n) && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return shows(a, opened) }) {
						found.addf(t.where(n.Pos()), "a secret is opened into a log line, a text or an error")
					}
				}
				return true
			})
		}
	}
	return found.sorted()
}

// called returns the called function's name and the package or value that qualifies it.
func called(call *ast.CallExpr) (of, name string) {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if x, ok := s.X.(*ast.Ident); ok {
		of = x.Name
	}
	return of, s.Sel.Name
}

// producesText reports whether a call produces text for people: a log line, a string or an error.
func producesText(call *ast.CallExpr) bool {
	of, name := called(call)
	if slices.Contains([]string{"slog", "logx", "log", "fmt", "errors", "fault"}, of) {
		return true
	}
	verb := strings.TrimSuffix(name, "Context")
	return slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log", "LogAttrs", "Because"}, verb)
}

// remember records in opened which variables of an assignment hold a revealed secret.
func remember(n *ast.AssignStmt, opened map[string]bool) {
	if len(n.Lhs) != len(n.Rhs) {
		return
	}
	for i, left := range n.Lhs {
		if name, ok := left.(*ast.Ident); ok {
			opened[name.Name] = isOpened(n.Rhs[i])
		}
	}
}

// isOpened reports whether an expression reveals a secret, as a string or as bytes.
func isOpened(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	if _, name := called(call); name == "Reveal" {
		return true
	}
	_, toBytes := call.Fun.(*ast.ArrayType)
	kind, ok := call.Fun.(*ast.Ident)
	return (toBytes || ok && kind.Name == "string") && len(call.Args) == 1 && isOpened(call.Args[0])
}

// shows reports whether an expression contains a revealed secret.
func shows(e ast.Expr, opened map[string]bool) bool {
	shown := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			shown = shown || opened[n.Name]
		case *ast.CallExpr:
			shown = shown || isOpened(n)
		}
		return true
	})
	return shown
}
