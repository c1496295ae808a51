package e2e_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/expect"
)

// describedRead holds the inputs of a GET operation in docs/openapi.yaml.
type describedRead struct {
	Security   []map[string][]string `yaml:"security"`
	Parameters []parameter           `yaml:"parameters"`
}

type parameter struct {
	Required bool `yaml:"required"`
}

// readers returns the GET routes in docs/openapi.yaml that require only a key and are missing from routeAccess. The
// make endpoint command generates such routes.
func readers(tb testing.TB) []template.Route {
	tb.Helper()
	text, err := os.ReadFile("../../../docs/openapi.yaml")
	expect.NoError(tb, err)
	var api struct {
		Paths map[string]struct {
			Get *describedRead `yaml:"get"`
		} `yaml:"paths"`
	}
	expect.NoError(tb, yaml.Unmarshal(text, &api))
	var all []template.Route
	for path, item := range api.Paths {
		route := template.Route{Method: http.MethodGet, Path: path}
		if item.Get == nil || routeAccess()[route.Method+" "+path] != 0 || strings.Contains(path, "{") {
			continue
		}
		isKeyed := func(scheme map[string][]string) bool { return scheme["basic"] != nil && len(scheme) == 1 }
		if len(item.Get.Security) != 1 || !isKeyed(item.Get.Security[0]) {
			continue
		}
		if !slices.ContainsFunc(item.Get.Parameters, func(p parameter) bool { return p.Required }) {
			all = append(all, route)
		}
	}
	if len(all) == 0 {
		tb.Fatal("docs/openapi.yaml describes no reader: GET /bridge/events is one")
	}
	return all
}

func runReaders(s *stack) {
	s.t.Helper()
	for _, route := range readers(s.t) {
		if got := s.org.request(route.Method, route.Path, nil); got.status != http.StatusOK {
			s.t.Errorf("%s %s: got %d %s", route.Method, route.Path, got.status, got.Error)
		}
	}
}
