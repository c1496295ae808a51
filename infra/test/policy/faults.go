package policy

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// maxPublicText is the maximum length of an error description, in characters. An error description has one or two
// sentences (docs/openapi.yaml, Error).
const maxPublicText = 200

var (
	codeForm = regexp.MustCompile(`^svc(_[a-z]+)+$`)
	codeUse  = regexp.MustCompile(`\bsvc_[a-z_]+`)
)

// ErrorCodes reports error codes in shared/words/fault that are malformed, duplicated or missing in docs/openapi.yaml.
// It also reports codes in the template's gateway responses or in the API description that shared/words/fault does not
// define.
func ErrorCodes(t *Tree) []Finding {
	var found findings
	description := string(t.Text("docs/openapi.yaml"))
	documented := map[string]bool{}
	for _, code := range codeUse.FindAllString(description, -1) {
		documented[code] = true
	}
	known := map[string]bool{}
	for _, c := range codes(t) {
		switch {
		case !codeForm.MatchString(c.text):
			found.addf(t.where(c.at), "%q is not of the form svc_words", c.text)
		case known[c.text]:
			found.addf(t.where(c.at), "%s is given twice", c.text)
		case !documented[c.text]:
			found.addf(t.where(c.at), "%s is not in docs/openapi.yaml", c.text)
		}
		known[c.text] = true
	}
	for _, name := range []string{"template.yaml", "docs/openapi.yaml"} {
		for _, code := range codeUse.FindAllString(string(t.Text(name)), -1) {
			if !known[code] {
				found.addf(name, "%s is not a code of shared/words/fault", code)
				known[code] = true // report each code only once
			}
		}
	}
	return found.sorted()
}

type literal struct {
	text string
	at   token.Pos
}

// codes returns the constants of type Code in shared/words/fault.
func codes(t *Tree) []literal {
	var all []literal
	for _, f := range t.production() {
		if !strings.HasPrefix(f.Path, "shared/words/fault/") {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
				for _, v := range spec.Values {
					all = append(all, literals(v)...)
				}
			}
			return false
		})
	}
	return all
}

// PublicTexts reports client-facing error messages that are too long or contain non-ASCII characters. It checks
// literals, including literal parts of concatenations, passed to fault.New, fault.BadRequest and fault.Missing.
func PublicTexts(t *Tree) []Finding {
	var found findings
	for _, f := range t.production() {
		inFault := strings.HasPrefix(f.Path, "shared/words/fault/")
		ast.Inspect(f.Go, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			text := publicArgument(call, inFault)
			if text == nil {
				return true
			}
			length := 0
			for _, l := range literals(text) {
				length += len(l.text)
				if strings.IndexFunc(l.text, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
					found.addf(t.where(l.at), "the public text %q is not ASCII", l.text)
				}
			}
			if length > maxPublicText {
				found.addf(t.where(text.Pos()), "a public text of %d characters, more than %d", length, maxPublicText)
			}
			return true
		})
	}
	return found.sorted()
}

// publicArgument returns the argument that a call sends to clients, or nil if there is none.
func publicArgument(call *ast.CallExpr, inFault bool) ast.Expr {
	var name string
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && x.Name == "fault" {
			name = f.Sel.Name
		}
	case *ast.Ident:
		if inFault {
			name = f.Name
		}
	}
	switch {
	case name == "New" && len(call.Args) == 3:
		return call.Args[2]
	case (name == "BadRequest" || name == "Missing") && len(call.Args) == 1:
		return call.Args[0]
	}
	return nil
}

func literals(e ast.Expr) []literal {
	var all []literal
	ast.Inspect(e, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				all = append(all, literal{text, l.Pos()})
			}
		}
		return true
	})
	return all
}
