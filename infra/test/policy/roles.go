package policy

import "slices"

// roleOf gives the role of the template that a function names as its own, nothing where there is none.
func (s *Stack) roleOf(f Resource) Resource {
	named := references(f.Properties["Role"])
	for _, r := range s.of(kindRole) {
		if slices.Contains(named, r.ID) {
			return r
		}
	}
	return Resource{}
}

// Roles finds functions that have no role of the template or share one; roles that somebody other than Lambda can take, that
// exist without their function, or that no function has.
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
		trust := statements(role.Properties["AssumeRolePolicyDocument"])
		lambdaOnly := func(st statement) bool {
			return len(fields(st.principal)) == 1 && short(at(st.principal, "Service")) == "lambda.amazonaws.com"
		}
		if len(trust) != 1 || !lambdaOnly(trust[0]) {
			found.addf(role.ID, "can be taken by others than Lambda")
		}
	}
	for _, r := range s.of(kindRole) {
		if n := len(users[r.ID]); n != 1 {
			found.addf(r.ID, "is the role of %d functions, not of one: %v", n, users[r.ID])
		}
	}
	return found.sorted()
}
