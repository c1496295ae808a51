package e2e_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/sandbox/persona"
)

// TestExportIsCompleteWithoutWildcardScopes checks that the generic profile requests every scope needed to export from
// a server with 146 types. The request must not exceed the server's limit of 2,048 bytes.
func TestExportIsCompleteWithoutWildcardScopes(t *testing.T) {
	t.Parallel()
	for _, scopes := range []string{"types-v1", "types-v2"} {
		for _, p := range sampleIfShort(persona.Builtin()) {
			t.Run(scopes+" "+p.ID, func(t *testing.T) {
				t.Parallel()
				want := recordOf(t, p)
				synctest.Test(t, func(t *testing.T) {
					s := newStack(t, options{})
					connect := s.ehr.connectURLOf(quirk{with: "scopes:" + scopes + ",query-limit:2048", platform: "smart"})
					_, last := s.patient.browser().open(connect, p.ID, "approve")
					id := last.Query().Get("org_connection_id")
					if id == "" {
						t.Fatalf("the application got %v", last.Query())
					}
					s.org.startExport(id)
					s.clock.finish(60)
					checkRecord(t, s.outside, s.webhooks.exportEvent(), want)
					if sent := s.webhooks.events("patient.ehi_export_success")[0].Body; strings.Contains(sent, `"complete"`) {
						t.Errorf("the event says %s", sent)
					}
				})
			})
		}
	}
}
