package smart

import (
	"slices"
	"strings"
)

// The two ways to write "read and search" (SMART App Launch 2.2, scopes-and-launch-context).
const (
	readV1 = "read"
	readV2 = "rs"
)

// clinicalScope is what to ask a server for of a patient's data, and the version that it is written in. The
// capabilities choose the version; where the server lists its scopes, what is not listed would be refused, so a
// wildcard that is missing gives way to the types that are there.
func clinicalScope(capabilities, supported []string) (scope, version string) {
	versions := []string{readV1, readV2}
	if slices.Contains(capabilities, "permission-v2") {
		slices.Reverse(versions)
	}
	for _, version := range versions {
		if slices.Contains(listed(supported, version), "*") {
			return "patient/*." + version, version
		}
	}
	for _, version := range versions {
		if types := listed(supported, version); len(types) > 0 {
			return "patient/" + strings.Join(types, "."+version+" patient/") + "." + version, version
		}
	}
	return "patient/*." + versions[0], versions[0]
}

// maxTypes bounds the authorization address; R4 has fewer types in a patient's compartment.
const maxTypes = 80

// listed returns, sorted, the types ("*" for all) that a scope in the list allows to read and search in the version's
// own words. Scopes of a part of a type do not count.
func listed(supported []string, version string) []string {
	var types []string
	for _, scope := range supported {
		rest, ok := strings.CutPrefix(scope, "patient/")
		name, permission, dotted := strings.Cut(rest, ".")
		if ok && dotted && isType(name) && reads(permission, version) {
			types = append(types, name)
		}
	}
	slices.Sort(types)
	types = slices.Compact(types)
	return types[:min(len(types), maxTypes)]
}

// isType is about what may stand in an address of ours: a server's list is not trusted with it.
func isType(name string) bool {
	return name == "*" || name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

func reads(permission, version string) bool {
	if version == readV1 {
		return permission == readV1 || permission == "*"
	}
	return strings.Trim(permission, "cruds") == "" && strings.Contains(permission, "r") && strings.Contains(permission, "s")
}
