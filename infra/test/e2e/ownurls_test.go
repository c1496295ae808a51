package e2e_test

import (
	"slices"

	"recordbridge/infra/local/template"
)

// withoutOwnURLs removes the parameter that holds the service's own URLs. An upgrade replaces the functions before it
// creates this parameter.
func withoutOwnURLs(all []template.Parameter) []template.Parameter {
	return slices.DeleteFunc(slices.Clone(all),
		func(p template.Parameter) bool { return p.LogicalID == "OwnUrlsParameter" })
}

// runWithoutOwnURLs checks that every function that reads the service's own URLs starts without them.
func runWithoutOwnURLs(s *stack) {
	started := 0
	for _, f := range s.template.Functions {
		if f.Environment["OWN_URLS_PARAMETER"] == "" {
			continue
		}
		started++
		if _, err := s.Invoke(s.t.Context(), f.LogicalID, []byte(`{"httpMethod":"OPTIONS","path":"/"}`)); err != nil {
			s.t.Errorf("%s does not start: %v", f.LogicalID, err)
		}
	}
	if started < 10 {
		s.t.Errorf("only %d functions want to know the service's own URLs", started)
	}
}
