package catalog_test

import (
	"strings"
	"testing"

	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/logx"
)

// TestReportMoveSanitisesIssuer covers malicious issuer values, because a portal can use any text as its issuer.
func TestReportMoveSanitisesIssuer(t *testing.T) {
	t.Parallel()
	var line strings.Builder
	ctx, event := logx.Begin(t.Context())
	catalog.ReportMove(ctx, "org-7", "endpoint-7", []catalog.Departure{
		{Role: "token", From: "https://ehr.example", To: "https://evil.example:8443"},
		{Role: "issuer", To: "https://evil.example/a b, c\n\"x?patient=7#y" + strings.Repeat("z", 500)},
		{Role: "issuer", From: "https://ehr.example", To: ""},
	})
	event.Emit(ctx, logx.New(&line), "test")
	want := `"event":"portal_moved","org_id":"org-7","endpoint_id":"endpoint-7",` +
		`"departures":"token from https://ehr.example to https://evil.example:8443, ` +
		`issuer from none to https://evil.example/a_b__c_\"x, issuer from https://ehr.example to none"`
	if !strings.Contains(line.String(), want) {
		t.Errorf("the log says %s, want %s", line.String(), want)
	}
	if counted := measured.In(t, []byte(line.String())); counted["PortalsMoved"] != 1 {
		t.Errorf("counted %v", counted)
	}
}
