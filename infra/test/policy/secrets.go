package policy

import (
	"go/ast"
	"slices"
	"strings"
)

// Revealed finds secrets that are opened (secret.Text's Reveal) inside a call that makes a log line, a text or
// an error, or into a variable that such a call takes. What such calls make is kept, shown or sent to places
// that nobody thinks of. The secret itself may be given: it redacts itself, which the tests of shared/words/secret
// show for every way of printing.
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
					if speaks(n) && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return shows(a, opened) }) {
						found.addf(t.where(n.Pos()), "a secret is opened into a log line, a text or an error")
					}
				}
				return true
			})
		}
	}
	return found.sorted()
}

// called gives the name of what a call calls, and that of the package or value in front of it.
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

// speaks tells whether a call makes something that is read by people: a line, a text, an error.
func speaks(call *ast.CallExpr) bool {
	of, name := called(call)
	if slices.Contains([]string{"slog", "logx", "log", "fmt", "errors", "fault"}, of) {
		return true
	}
	verb := strings.TrimSuffix(name, "Context")
	return slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log", "LogAttrs", "Because"}, verb)
}

// remember notes the variables that hold an opened secret after an assignment, and those that no longer do.
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

// isOpened tells whether an expression is an opened secret, as a string or as bytes.
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

// shows tells whether an opened secret stands somewhere in an expression.
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
