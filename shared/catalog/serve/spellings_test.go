package serve_test

import (
	"encoding/json"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/infra/testkit/spelling"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/serve"
)

// TestSearchOmitsServiceURLVariants covers snapshots from earlier releases, which contain the lists' URLs unchanged.
func TestSearchOmitsServiceURLVariants(t *testing.T) {
	t.Parallel()
	for _, all := range [][]string{
		spelling.Of("api.recordbridge.example", "", "/v1/x"),
		spelling.Of("127.0.0.1", "4566", "/v1/x"),
	} {
		for _, text := range all {
			source, err := json.Marshal(search.Source{
				ID: "b1", Name: "Cedar", BrandWebsite: text, LogoURI: text,
				Portals: []record.Portal{{ID: "p1", PortalWebsite: text, LogoURI: text}},
			})
			expect.NoError(t, err)
			told, err := serve.Searchable{}.Shown(ownhosts.Own(), search.Hit{Source: source}, nil)
			expect.NoError(t, err)
			if strings.Contains(string(told), "/v1/x") || !strings.Contains(string(told), `"name":"Cedar"`) ||
				!strings.HasSuffix(string(told), `,"health":{"state":"unknown"}}`) {
				t.Errorf("%q is shown: %s", text, told)
			}
		}
	}
}
