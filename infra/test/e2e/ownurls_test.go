package e2e_test

import (
	"slices"

	"recordbridge/infra/local/template"
)

// withoutOwnURLs returns a stack's parameters during an upgrade, when the functions have been replaced, but the
// parameter with the service's own URLs does not yet exist.
func withoutOwnURLs(all []template.Parameter) []template.Parameter {
	return slices.DeleteFunc(slices.Clone(all),
		func(p template.Parameter) bool { return p.LogicalID == "OwnUrlsParameter" })
}

// runWithoutOwnURLs starts every function that reads the service's own URLs.
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
