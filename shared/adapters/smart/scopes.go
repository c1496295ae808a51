package smart

import (
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/fhir"
)

// Permissions to read and search in both scope versions (SMART App Launch 2.2, scopes-and-launch-context).
const (
	readV1 = "read"
	readV2 = "rs"
)

// clinicalScope returns the scopes to request for a patient's data, most important first, and the scope version that
// most of them use. The server's capabilities determine the scope version. A server that lists its scopes would reject
// unlisted ones, so clinicalScope replaces an unlisted wildcard with the listed types that an export needs
// (fhir.NeededTypes).
func clinicalScope(capabilities, supported []string) (scope, version string) {
	versions := []string{readV1, readV2}
	if slices.Contains(capabilities, "permission-v2") {
		slices.Reverse(versions)
	}
	offered := map[string]offer{versions[0]: offerOf(supported, versions[0]), versions[1]: offerOf(supported, versions[1])}
	for _, version := range versions {
		if offered[version].covers("*") {
			return "patient/*." + version, version
		}
	}
	if offered[versions[1]].needed() > offered[versions[0]].needed() {
		slices.Reverse(versions)
	}
	if offered[versions[0]].needed() == 0 {
		return "patient/*." + versions[0], versions[0]
	}
	var scopes []string
	for _, name := range fhir.NeededTypes() {
		requested := offered[versions[0]].request(name)
		if len(requested) == 0 {
			requested = offered[versions[1]].request(name)
		}
		scopes = append(scopes, requested...)
	}
	return strings.Join(scopes, " "), versions[0]
}

// offer maps each type ("*" for all) to the permissions that a server lists for it in one scope version.
type offer map[string]string

// offerOf parses a server's list of scopes, ignoring scopes restricted to a subset of a type.
func offerOf(supported []string, version string) offer {
	found := offer{}
	for _, scope := range supported {
		rest, ok := strings.CutPrefix(scope, "patient/")
		name, permission, dotted := strings.Cut(rest, ".")
		if !ok || !dotted || !isType(name) {
			continue
		}
		if version == readV1 {
			if permission == readV1 || permission == "*" {
				found[name] = readV1
			}
			continue
		}
		letters := readLetters(permission)
		switch {
		case letters == "" || found[name] == readV2:
		case letters == readV2 || found[name] == "":
			found[name] = letters
		case !strings.Contains(found[name], letters):
			found[name] = "r s" // if listed separately, the read and search scopes must be requested separately
		}
	}
	return found
}

// readLetters returns whichever of the letters "r" and "s" a version 2 permission contains.
func readLetters(permission string) string {
	if permission == "" || strings.Trim(permission, "cruds") != "" {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r == 'r' || r == 's' {
			return r
		}
		return -1
	}, permission)
}

// covers reports whether a single scope permits reading and searching the type.
func (o offer) covers(name string) bool { return o[name] == readV1 || o[name] == readV2 }

// needed returns the number of offered types that an export needs and can both read and search.
func (o offer) needed() int {
	count := 0
	for _, name := range fhir.NeededTypes() {
		if len(o[name]) > 1 {
			count++
		}
	}
	return count
}

// request returns the scopes to request for a type, if the server lists any.
func (o offer) request(name string) []string {
	permissions := strings.Fields(o[name])
	for i, permission := range permissions {
		permissions[i] = "patient/" + name + "." + permission
	}
	return permissions
}

// isType reports whether a name from a server's untrusted list may appear in the authorization URL.
func isType(name string) bool { return name == "*" || fhir.ValidType(name) }

// longScope is the encoded size above which a list of scopes may leave too little room for the request's other
// parameters. The other parameters take about 600 of the 2,048 bytes that some portals accept (flow.Authorization).
const longScope = 1200

// isLong reports whether a list of scopes may be too long for an authorization request.
func isLong(scope string) bool { return len(url.QueryEscape(scope)) > longScope }

// servedOnly omits scopes for types that are missing from the CapabilityStatement, because the server has no data of
// those types. It always retains scopes for Patient. If the statement doesn't list any types, servedOnly retains all
// scopes.
func servedOnly(scope string, capability fhir.Capability) string {
	if len(capability.Resources) == 0 {
		return scope
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(scope), func(one string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(one, "patient/"), ".")
		return name != "Patient" && !slices.ContainsFunc(capability.Resources,
			func(r fhir.CapabilityResource) bool { return r.Type == name })
	}), " ")
}
