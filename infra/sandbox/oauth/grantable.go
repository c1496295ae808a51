package oauth

import (
	"slices"
	"strings"

	"recordbridge/infra/sandbox/scope"
	"recordbridge/infra/sandbox/switches"
)

type scopeRules struct{ *profile }

// grantable returns the requested scopes that a person can grant at this portal. The result is empty if the scopes
// would not grant access to any data.
func (s *scopeRules) grantable(requested string) []string {
	var known []string
	for one := range strings.FieldsSeq(requested) {
		if s.speaks(one) && !s.asksWildcard(one) {
			known = append(known, one)
		}
	}
	granted := s.narrowed(scope.Grant(strings.Join(known, " ")))
	if len(granted) == 0 || !s.identifies() {
		return granted
	}
	for _, one := range []string{scopeOpenID, scopeFHIRUser} {
		if slices.Contains(known, one) {
			granted = append(granted, one)
		}
	}

	return granted
}

// asksWildcard reports whether the requested scopes include a wildcard that the portal rejects.
func (s *scopeRules) asksWildcard(requested string) bool {
	return (s.with.Is(switches.Scopes, "no-wildcards") || s.listsTypes() != "") && strings.Contains(requested, "patient/*")
}

// listsTypes returns the access rights in the portal's scopes if the portal lists every resource type, or "" otherwise.
func (s *scopeRules) listsTypes() string {
	switch s.with.Text(switches.Scopes) {
	case "types-v1":
		return "read"
	case "types-v2":
		return "rs"
	default:
		return ""
	}
}

// asksEnough reports whether the requested scopes include the one, if any, that the portal requires.
func (s *scopeRules) asksEnough(requested string) bool {
	required := s.with.Text(switches.RequireScope)

	return required == "" || slices.Contains(strings.Fields(requested), required)
}

// speaks reports whether the portal supports a scope's syntax: v1 words such as read, v2 letters such as rs, or both.
func (s *scopeRules) speaks(one string) bool {
	_, rights, isData := strings.Cut(one, ".")
	if !isData {
		return true
	}
	isV1 := rights == "read" || rights == "write" || rights == "*"

	if isV1 {
		return !s.with.Is(switches.Scopes, "v2") && s.listsTypes() != "rs"
	}

	return !s.with.Is(switches.Scopes, "v1") && s.listsTypes() != "read"
}

// narrowed removes resource types that switches withhold and replaces wildcards with the remaining types.
func (s *scopeRules) narrowed(granted []string) []string {
	if !s.with.Has(switches.GrantOnly) && !s.with.Has(switches.NoPatientScope) {
		return granted
	}
	open := s.with.Types(switches.GrantOnly)
	if open == nil {
		open = s.allTypes()
	}
	open = slices.DeleteFunc(open, func(one string) bool {
		return one == "Patient" && s.with.Has(switches.NoPatientScope)
	})
	var left []string
	for _, one := range granted {
		name, rights, isData := strings.Cut(strings.TrimPrefix(one, "patient/"), ".")
		switch {
		case !isData:
			left = append(left, one)
		case name == "*":
			for _, resourceType := range open {
				left = append(left, "patient/"+resourceType+"."+rights)
			}
		case slices.Contains(open, name):
			left = append(left, one)
		}
	}

	return left
}

func (s *scopeRules) allTypes() []string {
	var all []string
	for _, p := range s.listed {
		all = append(all, p.Types...)
	}
	slices.Sort(all)

	return slices.Compact(all)
}
