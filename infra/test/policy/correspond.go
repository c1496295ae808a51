package policy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"recordbridge/infra/local/template"
)

// Folders reports incomplete function folders, and functions that exist only in functions/ or only in the template.
func Folders(t *Tree, functions []template.Function) []Finding {
	var found findings
	declared := map[string]bool{}
	for _, f := range functions {
		declared[f.Folder] = true
		if !t.paths["functions/"+f.Folder] {
			found.addf(f.LogicalID, "there is no folder functions/%s", f.Folder)
		}
	}
	for _, folder := range t.Functions() {
		where := "functions/" + folder
		if !declared[folder] {
			found.addf(where, "template.yaml has no such function")
		}
		for _, part := range []string{"/bootstrap/main.go", "/wiring"} {
			if !t.paths[where+part] {
				found.addf(where, "%s is missing", part[1:])
			}
		}
	}
	return found.sorted()
}

// operation holds the parts of a documented API operation that must match the template.
type operation struct {
	Function string `yaml:"x-function"` // folder of the function that serves the operation
}

// Routes reports routes that exist only in the template or only in the API description (docs/openapi.yaml). It also
// reports methods that the description and the template assign to different functions. A route with method ANY covers
// every method that has no route of its own. A function with an ANY route rejects methods that it does not support.
func Routes(functions []template.Function, description []byte) []Finding {
	const api, stack = "docs/openapi.yaml", "template.yaml"
	var found findings
	operations, err := operations(description)
	if err != nil {
		found.addf(api, "%v", err)
		return found
	}
	served := map[template.Route]string{}
	for _, f := range functions {
		for _, r := range f.Routes {
			r.Path = strings.ReplaceAll(r.Path, "+}", "}") // OpenAPI can't express a parameter for the rest of a path
			served[r] = f.Folder
			if !isDescribed(operations, r) {
				found.addf(stack, "%s %s is not in %s", r.Method, r.Path, api)
			}
		}
	}
	for r, o := range operations {
		folder, ok := served[r]
		if !ok {
			folder, ok = served[template.Route{Method: "ANY", Path: r.Path}]
		}
		switch {
		case !ok:
			found.addf(api, "%s %s is not in %s", r.Method, r.Path, stack)
		case folder != o.Function:
			found.addf(api, "%s %s is served by %s, but x-function says %q", r.Method, r.Path, folder, o.Function)
		}
	}
	return found.sorted()
}

// isDescribed reports whether the API description contains at least one of a route's methods.
func isDescribed(operations map[template.Route]operation, r template.Route) bool {
	for described := range operations {
		if described.Path == r.Path && (r.Method == "ANY" || r.Method == described.Method) {
			return true
		}
	}
	return false
}

func operations(description []byte) (map[template.Route]operation, error) {
	var api struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	if err := yaml.Unmarshal(description, &api); err != nil {
		return nil, fmt.Errorf("read the API's description: %w", err)
	}
	all := map[template.Route]operation{}
	for path, item := range api.Paths {
		for key, node := range item {
			method := strings.ToUpper(key)
			if !isMethod(method) {
				continue
			}
			var o operation
			if err := node.Decode(&o); err != nil {
				return nil, fmt.Errorf("read %s %s: %w", method, path, err)
			}
			all[template.Route{Method: method, Path: path}] = o
		}
	}
	return all, nil
}

func isMethod(key string) bool {
	return slices.Contains([]string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
		http.MethodOptions, http.MethodTrace,
	}, key)
}
