// Package scope implements the SMART App Launch scopes that the sandbox supports. The package determines the requested
// scopes that a person can grant and the access that granted scopes allow.
//
// The package handles only the syntax of scopes; package oauth stores the grants. Syntax:
// https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
package scope

import (
	"regexp"
	"slices"
	"strings"
)

// Interaction is an operation on a resource type.
type Interaction byte

// Interactions that a read-only server supports, represented by their SMART v2 scope letters.
const (
	Read   Interaction = 'r'
	Search Interaction = 's'
)

const (
	launchPatient = "launch/patient"
	offlineAccess = "offline_access"
	onlineAccess  = "online_access"
)

// clinical matches a scope of the form patient/<type>.<v1 word or v2 letters>. Scopes with a ?query part are
// unsupported and never granted.
var clinical = regexp.MustCompile(`^patient/(\*|[A-Z][A-Za-z]{1,63})\.(read|write|\*|c?r?u?d?s?)$`)

// Supported returns the scopes to advertise in the discovery document.
func Supported() []string {
	return []string{
		launchPatient, offlineAccess, onlineAccess, "patient/*.read", "patient/*.rs", "patient/*.r",
		"patient/*.s",
	}
}

// Grant narrows a requested scope string to the scopes that this server can grant. It omits unknown scopes and all
// write access, as RFC 6749 §3.3 allows; the token response lists the granted scopes. If the granted scopes would not
// give access to any data, the result is empty.
func Grant(requested string) []string {
	var granted []string
	data := false
	for s := range strings.FieldsSeq(requested) {
		narrowed := narrow(s)
		if narrowed == "" || slices.Contains(granted, narrowed) {
			continue
		}
		data = data || strings.HasPrefix(narrowed, "patient/")
		granted = append(granted, narrowed)
	}
	if !data {
		return nil
	}

	return granted
}

func narrow(s string) string {
	switch s {
	case launchPatient, offlineAccess, onlineAccess:
		return s
	}
	parts := clinical.FindStringSubmatch(s)
	if parts == nil {
		return ""
	}
	switch parts[2] {
	case "read", "*":
		return "patient/" + parts[1] + ".read"
	case "write":
		return ""
	}
	letters := strings.Map(func(letter rune) rune {
		if letter == rune(Read) || letter == rune(Search) {
			return letter
		}

		return -1
	}, parts[2])
	if letters == "" {
		return ""
	}

	return "patient/" + parts[1] + "." + letters
}

// Offline reports whether the granted scopes entitle the client to a refresh token.
func Offline(granted []string) bool { return slices.Contains(granted, offlineAccess) }

// Allows reports whether the granted scopes allow the interaction with resources of the given type.
func Allows(granted []string, resourceType string, what Interaction) bool {
	return slices.ContainsFunc(granted, func(s string) bool {
		name, rights, isData := strings.Cut(strings.TrimPrefix(s, "patient/"), ".")
		if !isData || name != "*" && name != resourceType {
			return false
		}

		return rights == "read" || strings.ContainsRune(rights, rune(what))
	})
}

// Types returns the resource types named in the granted scopes. If a scope covers every type, all is true.
func Types(granted []string) (named []string, all bool) {
	for _, s := range granted {
		name, _, isData := strings.Cut(strings.TrimPrefix(s, "patient/"), ".")
		switch {
		case !isData:
		case name == "*":
			all = true
		case !slices.Contains(named, name):
			named = append(named, name)
		}
	}

	return named, all
}
