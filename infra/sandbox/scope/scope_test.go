package scope_test

import (
	"strings"
	"testing"

	"recordbridge/infra/sandbox/scope"
)

func TestGrantDropsUnsupportedScopes(t *testing.T) {
	t.Parallel()
	for requested, want := range map[string]string{
		"openid fhirUser launch/patient offline_access patient/*.read": "launch/patient offline_access patient/*.read",
		"patient/*.rs":                         "patient/*.rs",
		"patient/*.cruds":                      "patient/*.rs",
		"patient/*.*":                          "patient/*.read",
		"patient/Observation.r patient/Goal.s": "patient/Observation.r patient/Goal.s",
		"patient/*.read patient/*.read":        "patient/*.read",
		"patient/*.read patient/Goal.write":    "patient/*.read",
		"patient/*.sr":                         "",
		"patient/Goal.cud":                     "",
		"patient/*.":                           "",
		"patient/*.rs?category=laboratory":     "",
		"user/*.read system/*.rs":              "",
		"patient/observation.read":             "",
		"offline_access":                       "",
		"":                                     "",
	} {
		if got := strings.Join(scope.Grant(requested), " "); got != want {
			t.Errorf("Grant(%q) = %q, want %q", requested, got, want)
		}
	}
}

func TestAllowsMatchesTypeAndInteraction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		granted      string
		read, search bool
	}{
		{"patient/*.read", true, true},
		{"patient/*.rs", true, true},
		{"patient/Goal.r", true, false},
		{"patient/*.s", false, true},
		{"patient/Condition.read", false, false},
		{"patient/Condition.rs patient/Goal.s", false, true},
		{"launch/patient offline_access", false, false},
	} {
		granted := strings.Fields(c.granted)
		if got := scope.Allows(granted, "Goal", scope.Read); got != c.read {
			t.Errorf("%q reads Goal: %v, want %v", c.granted, got, c.read)
		}
		if got := scope.Allows(granted, "Goal", scope.Search); got != c.search {
			t.Errorf("%q searches Goal: %v, want %v", c.granted, got, c.search)
		}
	}
}
