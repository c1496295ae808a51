package fhir

import (
	"strings"
)

// Access is an interaction that a scope may allow for a resource type: one of the letters of SMART App Launch 2.
type Access byte

// The accesses that an export needs.
const (
	Read   Access = 'r'
	Search Access = 's'
)

// Scopes holds the granted SMART scopes for clinical data, of version 1 ("patient/*.read") or 2
// ("patient/Observation.rs?category=laboratory") in any mixture (SMART App Launch 2.2, scopes-and-launch-context).
type Scopes struct {
	grants []grant
}

type grant struct {
	resourceType string // or "*"
	access       string // letters of cruds
}

// ParseScopes parses the scope string of a token response. Scopes that do not concern clinical data, such as openid and
// launch/patient, and malformed ones allow nothing.
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

// Any reports whether any scope concerns clinical data. If none does, the scopes do not reflect what the authorization
// covers: some platforms decide that at registration.
func (s Scopes) Any() bool { return len(s.grants) > 0 }

// Allows reports whether any scope grants the access to resources of the type. A scope narrowed to a part of the type
// ("?category=…") counts: the server returns that part.
func (s Scopes) Allows(resourceType string, access Access) bool {
	for _, granted := range s.grants {
		if (granted.resourceType == "*" || granted.resourceType == resourceType) &&
			strings.IndexByte(granted.access, byte(access)) >= 0 {
			return true
		}
	}
	return false
}

// letters converts the permission of a scope to letters of cruds. Version 1 words stand for the letters assigned by the
// SMART specification. The order of version 2 letters, which it fixes, is not enforced.
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
