package smart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/smart"
)

func TestTheDefaultScopeIsWhatTheServerTakes(t *testing.T) {
	t.Parallel()
	v1, v2 := []string{"permission-v1"}, []string{"permission-v2"}
	many := make([]string, 0, 500)
	for i := range 500 {
		many = append(many, fmt.Sprintf("patient/T%s.read", strings.Repeat("x", i)))
	}
	for name, test := range map[string]struct {
		capabilities, supported []string
		want                    string
	}{
		"nothing stated":                  {nil, nil, "patient/*.read"},
		"version 1":                       {v1, nil, "patient/*.read"},
		"version 2":                       {v2, nil, "patient/*.rs"},
		"both":                            {slices.Concat(v1, v2), nil, "patient/*.rs"},
		"the wildcard is listed":          {v2, []string{"patient/*.rs", "patient/Patient.rs"}, "patient/*.rs"},
		"a wider wildcard":                {v2, []string{"patient/*.cruds"}, "patient/*.rs"},
		"a wider wildcard of version 1":   {nil, []string{"patient/*.*"}, "patient/*.read"},
		"only the other version's":        {v2, []string{"patient/*.read"}, "patient/*.read"},
		"only version 2 in the list":      {nil, []string{"patient/*.rs"}, "patient/*.rs"},
		"types":                           {v1, []string{"openid", "patient/Observation.read", "patient/Goal.read", "patient/Goal.*"}, "patient/Goal.read patient/Observation.read"},
		"types of version 2":              {v2, []string{"patient/Observation.rs", "patient/Goal.cruds", "patient/Goal.read"}, "patient/Goal.rs patient/Observation.rs"},
		"types of the other version":      {v2, []string{"patient/Goal.read"}, "patient/Goal.read"},
		"what cannot be searched":         {v2, []string{"patient/Goal.r", "patient/Goal.cud", "patient/Goal.write"}, "patient/*.rs"},
		"a part of a type":                {v2, []string{"patient/Observation.rs?category=laboratory"}, "patient/*.rs"},
		"another person's":                {v2, []string{"user/*.rs", "system/*.rs"}, "patient/*.rs"},
		"what would spoil the address":    {v1, []string{"patient/Goal&x=.read", "patient/.read", "patient/Go al.read", "patient/Goal"}, "patient/*.read"},
		"more types than an address held": {v1, many, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canned := answering{body: configuration(t, map[string]any{
				"capabilities": test.capabilities, "scopes_supported": test.supported,
				"authorization_endpoint": "authorize", "token_endpoint": "token",
			})}
			server, err := smart.Discover(t.Context(), canned, "https://ehr.example/r4")
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if got := len(strings.Fields(server.Scope)); got != 80 {
					t.Errorf("%d scopes, want 80 types", got)
				}
				return
			}
			if server.Scope != test.want || !strings.HasSuffix(server.Scope, "."+server.Access) {
				t.Errorf("asks for %q in version %q\nwant     %q", server.Scope, server.Access, test.want)
			}
		})
	}
}
