package policy

import (
	"go/ast"
	"slices"
	"strings"
)

// Revealed reports secrets that are opened (secret.Text's Reveal) inside a call that produces a log line, a text or an
// error, or into a variable that such a call takes. The results of such calls are stored, shown or sent in unexpected
// ways. The secret itself may be passed: it redacts itself, as the tests of shared/words/secret show for every way of
// printing.
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

// called returns the name of a call's function, and of the package or value before it.
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

// producesText reports whether a call produces human-readable text: a log line, a string, an error.
func producesText(call *ast.CallExpr) bool {
	of, name := called(call)
	if slices.Contains([]string{"slog", "logx", "log", "fmt", "errors", "fault"}, of) {
		return true
	}
	verb := strings.TrimSuffix(name, "Context")
	return slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log", "LogAttrs", "Because"}, verb)
}

// remember tracks the variables that hold an opened secret after an assignment.
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

// isOpened reports whether an expression is an opened secret, as a string or as bytes.
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

// shows reports whether an expression contains an opened secret.
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
