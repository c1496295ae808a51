package template

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// segment matches a path segment that API Gateway accepts: a literal, {name} or {name+}.
var segment = regexp.MustCompile(`^(?:[A-Za-z0-9._~:-]+|\{[A-Za-z0-9._-]+\+?\})$`)

// anyMethod is the key of the operation that handles all methods without their own key.
const anyMethod = "x-amazon-apigateway-any-method"

type method struct {
	api         string
	line        int
	route       Route
	uri         string
	credentials string // ARN of the role with which API Gateway invokes the function
}

// paths reads the API definition, in which each method of each path invokes one function directly.
func (b *builder) paths(o *object, api string) {
	definition := o.object("DefinitionBody")
	if definition.node == nil {
		return
	}
	definition.ignore("info")
	definition.oneOf("openapi", "3.0.1")
	table := routeTable{variables: map[string]string{}}
	paths := definition.object("paths")
	for _, p := range entries(paths.node) {
		table.add(p.key, p.line, o)
		path := paths.object(p.key)
		for _, e := range entries(path.node) {
			m := readMethod(path, e.key)
			m.api, m.line = api, e.line
			m.route = Route{Method: strings.ToUpper(e.key), Path: p.key}
			if e.key == anyMethod {
				m.route.Method = "ANY"
			} else if e.key != strings.ToLower(e.key) || !slices.Contains(httpMethods(), m.route.Method) {
				o.failf(e.line, "%s%s is not a method", path.where, e.key)
			}
			b.methods = append(b.methods, m)
		}
	}
	definition.finish()
}

// readMethod reads the function and role from a method's integration.
func readMethod(path *object, key string) method {
	o := path.object(key)
	o.ignore("responses") // OpenAPI requires this field; API Gateway forwards the function's response unchanged
	integration := o.object("x-amazon-apigateway-integration")
	integration.oneOf("type", "aws_proxy")
	integration.oneOf("httpMethod", http.MethodPost) // always POST, regardless of the caller's method
	m := method{uri: integration.required("uri"), credentials: integration.required("credentials")}
	integration.finish()
	o.finish()
	return m
}

func httpMethods() []string {
	return []string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
		http.MethodOptions,
	}
}

// routeTable detects routes that API Gateway refuses to deploy: invalid paths, and variables with different names at
// the same position, which would make matching ambiguous.
type routeTable struct {
	variables map[string]string // variable segment directly below each path, keyed by that path
}

func (t routeTable) add(path string, line int, o *object) {
	relative, absolute := strings.CutPrefix(path, "/")
	parts := strings.Split(relative, "/")
	parent := ""
	for i, part := range parts {
		greedy := strings.HasSuffix(part, "+}")
		if !absolute || !segment.MatchString(part) || greedy && i != len(parts)-1 {
			o.failf(line, "%q is not a path of an API", path)
			return
		}
		if strings.HasPrefix(part, "{") {
			if other, taken := t.variables[parent]; taken && other != part {
				o.failf(line, "%s: %s and %s cannot stand at the same place", path, part, other)
			}
			t.variables[parent] = part
		}
		parent += "/" + part
	}
}

// connect assigns routes to functions once every function and role is known. API Gateway invokes a function's alias
// with a role that must allow exactly that invocation. Without the role, requests to the path would fail with status
// 500.
func (b *builder) connect() error {
	for _, m := range b.methods {
		invoked := func(f Function) bool {
			return m.uri == "arn:aws:apigateway:"+region+":lambda:path/2015-03-31/functions/"+b.alias(f)+"/invocations"
		}
		i := slices.IndexFunc(b.template.Functions, invoked)
		if i < 0 {
			return in(m.api, refuse(m.line, "%s: the uri %q does not invoke the alias of a function", m.route.Path, m.uri))
		}
		f := &b.template.Functions[i]
		assumed, ok := b.gateway[m.credentials]
		if !ok {
			return in(m.api, refuse(m.line, "%s: %q is not a role for API Gateway of the template", m.route.Path, m.credentials))
		}
		allows := func(s Statement) bool {
			return slices.Contains(s.Actions, "lambda:InvokeFunction") && slices.Contains(s.Resources, b.alias(*f))
		}
		if !slices.ContainsFunc(assumed.statements, allows) {
			return in(m.api, refuse(m.line, "%s: %s does not allow invoking %s", m.route.Path, assumed.id, f.LogicalID))
		}
		f.Routes = append(f.Routes, m.route)
	}
	return nil
}

// alias returns the ARN of a function's alias (AutoPublishAlias), which is always named live.
func (b *builder) alias(f Function) string { return b.arn(kindFunction, f.LogicalID) + ":live" }
