package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// custody maps each phrase about functions in SECURITY.md to a predicate that reports whether a statement grants the
// access that the phrase describes.
func custody() map[string]func(statement) bool {
	return map[string]func(statement) bool{
		"Read or change a row of the Tokens table": func(st statement) bool {
			return slices.Contains(st.resources,
				"${TokensTable.Arn}")
		},
		"Open patients' tokens": func(st statement) bool {
			return slices.Contains(st.actions, "kms:Decrypt") && slices.Contains(st.resources, "${TokensKey.Arn}") &&
				short(at(st.condition, "StringEquals", "kms:EncryptionContext:purpose")) == "tokens"
		},
		"Use TokensKey": func(st statement) bool {
			return slices.Contains(st.resources, "${TokensKey.Arn}") && slices.ContainsFunc(st.actions,
				func(action string) bool { return strings.HasPrefix(action, "kms:") })
		},
		"Sign as our client": func(st statement) bool { return signs(st) && !usesManifestKey(st) },
		"Sign manifests":     func(st statement) bool { return signs(st) && usesManifestKey(st) },
	}
}

func signs(st statement) bool { return slices.Contains(st.actions, "kms:Sign") }

// usesManifestKey reports whether all of a statement's resources are manifest keys.
func usesManifestKey(st statement) bool {
	return !slices.ContainsFunc(st.resources,
		func(resource string) bool { return !strings.HasPrefix(resource, "${ManifestKey") })
}

// quoted matches a name formatted as code.
var quoted = regexp.MustCompile("`([a-z]+)`")

// Custody reports differences between the functions listed in SECURITY.md and the functions to which the template
// grants the described access.
func Custody(s *Stack, document []byte) []Finding {
	const where = "SECURITY.md"
	var found, other findings
	listed := map[string][]string{}
	for line := range strings.Lines(string(document)) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			for _, name := range quoted.FindAllStringSubmatch(cells[2], -1) {
				what := strings.TrimSpace(cells[1])
				listed[what] = append(listed[what], name[1])
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(custody())) {
		var may []string
		for _, f := range s.functions() {
			if slices.ContainsFunc(s.allowed(s.roleOf(f), &other), custody()[what]) {
				may = append(may, strings.ToLower(strings.TrimSuffix(f.ID, "Function")))
			}
		}
		slices.Sort(may)
		if got := listed[what]; !slices.Equal(got, may) {
			found.addf(where, "%s: lists %v, by the template %v", what, got, may)
		}
	}
	return found.sorted()
}
