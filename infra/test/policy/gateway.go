package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// mostInvoked is the maximum number of aliases that GatewayRole can name. IAM allows up to 10,240 characters of inline
// policies per role. An alias's ARN takes up to 119 characters including quotes and comma.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const mostInvoked = 85

var invocation = regexp.MustCompile(`/functions/\$\{(\w+)\.Arn\}:live/invocations$`)

// integrations returns the integrations of an API's methods, including those in conditional parts.
func integrations(api Resource) []any {
	var all []any
	paths := fields(at(api.Properties, "DefinitionBody", "paths"))
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		path := paths[name]
		if choice := list(at(path, "Fn::If")); len(choice) == 3 {
			path = choice[1]
		}
		for _, method := range fields(path) {
			all = append(all, at(method, "x-amazon-apigateway-integration"))
		}
	}
	return all
}

// routed returns the functions that the API invokes, in file order.
func (s *Stack) routed() []Resource {
	invoked := map[string]bool{}
	for _, a := range s.of(kindAPI) {
		for _, i := range integrations(a) {
			if m := invocation.FindStringSubmatch(short(at(i, "uri"))); m != nil {
				invoked[m[1]] = true
			}
		}
	}
	return slices.DeleteFunc(s.of(kindFunction), func(f Resource) bool { return !invoked[f.ID] })
}

// invokes reports whether API Gateway uses a role to invoke functions. It also supports a template that SAM has
// transformed.
func (s *Stack) invokes(r Resource) bool {
	named := func(api Resource) bool {
		by := append(references(api.Properties["DefinitionBody"]), references(api.Properties["Body"])...)
		return slices.Contains(by, r.ID)
	}
	return slices.ContainsFunc(s.Resources, named) && trusts(r, "apigateway.amazonaws.com")
}

// Gateway reports functions without a route that API Gateway is allowed to invoke, and functions with a route that it
// is not allowed to invoke. It also reports any other permission of API Gateway's role and any condition in the role's
// trust policy. API Gateway doesn't send aws:SourceAccount when it assumes an integration's role (ADR 51).
func Gateway(s *Stack) []Finding {
	var found, other findings
	want := s.routed()
	if len(want) > mostInvoked {
		found.addf("template.yaml", "has %d functions with routes, and one role can name %d", len(want), mostInvoked)
	}
	for _, r := range s.of(kindRole) {
		if !s.invokes(r) {
			continue
		}
		if statements(r.Properties["AssumeRolePolicyDocument"])[0].condition != nil {
			found.addf(r.ID, "has a condition on who assumes it, which API Gateway does not meet")
		}
		invocations(r.ID, s.allowed(r, &other), want, &found)
	}
	return found.sorted()
}

// invocations reports differences between the functions that API Gateway's role may invoke and the functions with
// routes.
func invocations(role string, all []statement, want []Resource, found *findings) {
	allowed := map[string]bool{}
	for _, st := range all {
		if !slices.Equal(st.actions, []string{"lambda:InvokeFunction"}) {
			found.addf(role, "%s has no part in invoking functions", strings.Join(st.actions, ", "))
		}
		for _, on := range st.resources {
			allowed[on] = true
		}
	}
	for _, f := range want {
		on := "${" + f.ID + ".Arn}:" + alias
		if !allowed[on] {
			found.addf(role, "does not allow invoking %s, which has a route", f.ID)
		}
		delete(allowed, on)
	}
	for on := range allowed {
		found.addf(role, "allows invoking %s, which has no route", on)
	}
}
