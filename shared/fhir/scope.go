package fhir

import (
	"strings"
)

// Access is an interaction that a scope may permit for a resource type. Its value is a permission letter from SMART App
// Launch 2.
type Access byte

// Interactions that an export requires.
const (
	Read   Access = 'r'
	Search Access = 's'
)

// Scopes holds the granted SMART scopes for clinical data. Scopes may use the syntax of version 1 ("patient/*.read"),
// version 2 ("patient/Observation.rs?category=laboratory") or both (SMART App Launch 2.2, scopes-and-launch-context).
type Scopes struct {
	grants []grant
}

type grant struct {
	resourceType string // resource type, or "*" for all types
	access       string // letters from "cruds"
}

// ParseScopes parses the scope string of a token response. Malformed scopes, and scopes that don't concern clinical
// data, such as openid and launch/patient, are ignored.
func ParseScopes(text string) Scopes {
	var scopes Scopes
	for scope := range strings.FieldsSeq(text) {
		level, rest, _ := strings.Cut(scope, "/")
		if level != "patient" && level != "user" {
			continue
		}
		name, permission, _ := strings.Cut(rest, ".")
		if name != "*" && !ValidType(name) {
			continue
		}
		if access, ok := letters(permission); ok {
			scopes.grants = append(scopes.grants, grant{resourceType: name, access: access})
		}
	}
	return scopes
}

// Any reports whether any scope concerns clinical data. If there is none, the scopes don't determine what the
// authorization covers, because some platforms determine that at registration.
func (s Scopes) Any() bool { return len(s.grants) > 0 }

// Allows reports whether any scope grants the given access to resources of the type. A scope restricted to part of the
// type ("?category=…") counts, because the server returns that part.
func (s Scopes) Allows(resourceType string, access Access) bool {
	for _, granted := range s.grants {
		if (granted.resourceType == "*" || granted.resourceType == resourceType) &&
			strings.IndexByte(granted.access, byte(access)) >= 0 {
			return true
		}
	}
	return false
}

// letters converts a scope's permission to letters from "cruds". The SMART specification maps the words of version 1
// scopes to these letters. The order of version 2's letters is not enforced.
func letters(permission string) (access string, ok bool) {
	permission, _, _ = strings.Cut(permission, "?")
	switch permission {
	case "read":
		return "rs", true
	case "write":
		return "cud", true
	case "*":
		return "cruds", true
	}
	return permission, permission != "" && strings.Trim(permission, "cruds") == ""
}
