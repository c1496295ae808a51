package webhook_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// The bytes that customers receive. A change here is a change of the public contract (spec section 6).
func TestEachEventHasItsGoldenBody(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 3, 4, 6, 6, 7, 120000000, time.FixedZone("CET", 3600))
	link := webhook.DownloadLink{URL: "https://api.example/v1/x?token=t&a=<b>", ExportType: "jsonl", ContentType: "application/fhir+ndjson"}
	tests := []struct {
		kind webhook.Type
		data any
		want string
	}{
		{
			webhook.TestEvent,
			webhook.Test{Hello: "world", Random: "r"},
			`{"api_mode":"test","date":"2026-03-04T05:06:07.12Z","id":"2222f3af-2234-5ffd-b63e-0c7abf09dd03","type":"webhook.test",` +
				`"data":{"hello":"world","random":"r"}}`,
		},
		{
			webhook.ExportSucceeded,
			webhook.ExportSuccess{
				DownloadLinks: []webhook.DownloadLink{link}, OrgConnectionID: "conn", TaskID: "task", OrgID: "org", DownloadLink: &link,
				Stats: webhook.Stats{TotalResources: 3, TotalByResourceType: map[string]int{"Patient": 1, "Observation": 2}},
			},
			`{"api_mode":"test","date":"2026-03-04T05:06:07.12Z","id":"3aa3896b-6626-50f2-a92b-4921b6bb3c32","type":"patient.ehi_export_success",` +
				`"data":{"download_links":[{"url":"https://api.example/v1/x?token=t\u0026a=\u003cb\u003e","export_type":"jsonl","content_type":"application/fhir+ndjson"}],` +
				`"org_connection_id":"conn","task_id":"task","org_id":"org",` +
				`"stats":{"total_resources":3,"total_by_resource_type":{"Observation":2,"Patient":1}},` +
				`"download_link":{"url":"https://api.example/v1/x?token=t\u0026a=\u003cb\u003e","export_type":"jsonl","content_type":"application/fhir+ndjson"}}}`,
		},
		{
			webhook.ExportFailed,
			webhook.ExportFailure{FailureReason: "scope_patient_missing", OrgConnectionID: "conn", TaskID: "task", OrgID: "org"},
			`{"api_mode":"test","date":"2026-03-04T05:06:07.12Z","id":"e703e1b4-5aed-5ca5-85a4-18b285bf6ec0","type":"patient.ehi_export_failed",` +
				`"data":{"failure_reason":"scope_patient_missing","org_connection_id":"conn","task_id":"task","org_id":"org"}}`,
		},
		{
			webhook.ConnectionSucceeded,
			webhook.ConnectionSuccess{
				OrgConnectionID: "conn", EndpointID: "endpoint", PortalID: "portal", BrandID: "brand", ConnectionStatus: "authorized",
				PlatformType: "sandbox", RequestID: "req", ExternalID: "ext", ExternalState: "state", Scope: "patient/*.read",
				ConsentExpiresAt: "2027-03-04T05:06:07Z",
			},
			`{"api_mode":"test","date":"2026-03-04T05:06:07.12Z","id":"da1334bd-52b4-5649-a7f1-75ede2ab15b8","type":"patient.connection_success",` +
				`"data":{"org_connection_id":"conn","endpoint_id":"endpoint","portal_id":"portal","brand_id":"brand",` +
				`"connection_status":"authorized","platform_type":"sandbox","request_id":"req",` +
				`"external_id":"ext","external_state":"state","scope":"patient/*.read","consent_expires_at":"2027-03-04T05:06:07Z"}}`,
		},
	}
	for _, test := range tests {
		t.Run(string(test.kind), func(t *testing.T) {
			t.Parallel()
			got, err := webhook.NewEvent(tenant, test.kind, "subject", 0, date, test.data)
			must(t, err)
			if diff := cmp.Diff(test.want, string(got.Body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if got.ID != webhook.EventID(tenant, test.kind, "subject", 0) || got.Type != test.kind || got.Tenant != tenant || !got.CreatedAt.Equal(date) {
				t.Errorf("event = %+v", got)
			}
			if parsed, ok := webhook.ParseType(string(test.kind)); !ok || parsed != test.kind {
				t.Errorf("ParseType(%q) = %q, %v", test.kind, parsed, ok)
			}
		})
	}
	if _, ok := webhook.ParseType("patient.unknown"); ok {
		t.Error("a type that does not exist was read")
	}
}

func TestAnEventWhoseDataHasNoJSONIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := webhook.NewEvent(tenant, webhook.TestEvent, "subject", 0, time.Time{}, math.NaN()); err == nil {
		t.Error("no error")
	}
}

func TestOneFactHasOneIDAndTwoFactsHaveTwo(t *testing.T) {
	t.Parallel()
	type fact struct {
		tenant  org.Tenant
		kind    webhook.Type
		subject string
		number  int64
	}
	facts := []fact{
		{tenant, webhook.TestEvent, "subject", 0},
		{tenant, webhook.TestEvent, "subject", 1},
		{tenant, webhook.TestEvent, "subject", 10},
		{tenant, webhook.TestEvent, "subject1", 0},
		{tenant, webhook.ExportFailed, "subject", 0},
		{org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, webhook.TestEvent, "subject", 0},
		{org.Tenant{Mode: org.Test, OrgID: "0b"}, webhook.TestEvent, "subject", 0},
	}
	seen := map[string]fact{}
	for _, f := range facts {
		id := webhook.EventID(f.tenant, f.kind, f.subject, f.number)
		if other, taken := seen[id]; taken {
			t.Errorf("%v and %v are both %s", f, other, id)
		}
		seen[id] = f
		if parsed, err := uuid.Parse(id); err != nil || parsed.Version() != 5 || parsed.String() != id {
			t.Errorf("id of %v = %q, want a version 5 UUID in lower case", f, id)
		}
		if again := webhook.EventID(f.tenant, f.kind, f.subject, f.number); again != id {
			t.Errorf("id of %v = %s, then %s", f, id, again)
		}
	}
}
