package policy

import "slices"

// roleOf returns a function's role in the template, or the zero Resource if the template has no such role.
func (s *Stack) roleOf(f Resource) Resource {
	named := references(f.Properties["Role"])
	for _, r := range s.of(kindRole) {
		if slices.Contains(named, r.ID) {
			return r
		}
	}
	return Resource{}
}

// trusts reports whether the given AWS service, and no other principal, can assume a role.
func trusts(role Resource, service string) bool {
	all := statements(role.Properties["AssumeRolePolicyDocument"])
	return len(all) == 1 && len(fields(all[0].principal)) == 1 && short(at(all[0].principal, "Service")) == service
}

// shifts reports whether CodeDeploy uses a role to shift traffic to new versions. shifts also supports a template that
// SAM has transformed.
func (s *Stack) shifts(r Resource) bool {
	named := func(x Resource) bool {
		by := append(references(at(x.Properties, "DeploymentPreference", "Role")),
			references(x.Properties["ServiceRoleArn"])...)
		return slices.Contains(by, r.ID)
	}
	return slices.ContainsFunc(s.Resources, named) && trusts(r, "codedeploy.amazonaws.com")
}

// Roles reports functions whose role is shared or missing from the template. It also reports roles that any principal
// other than Lambda can assume, roles whose condition differs from their function's condition, and unused roles. The
// roles of CodeDeploy and API Gateway are exempt from this rule.
func Roles(s *Stack) []Finding {
	var found findings
	users := map[string][]string{}
	for _, f := range s.functions() {
		role := s.roleOf(f)
		switch {
		case role.ID == "":
			found.addf(f.ID, "has no role of the template")
			continue
		case role.Condition != f.Condition:
			found.addf(f.ID, "its role %s has another condition", role.ID)
		}
		users[role.ID] = append(users[role.ID], f.ID)
		if !trusts(role, "lambda.amazonaws.com") {
			found.addf(role.ID, "can be taken by others than Lambda")
		}
	}
	for _, r := range s.of(kindRole) {
		if n := len(users[r.ID]); n != 1 && !s.shifts(r) && !s.invokes(r) {
			found.addf(r.ID, "is the role of %d functions, not of one: %v", n, users[r.ID])
		}
	}
	return found.sorted()
}
