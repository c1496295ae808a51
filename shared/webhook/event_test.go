package webhook_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// fact is an event whose expected body is in testdata.
type fact struct {
	file string
	kind webhook.Type
	data any
}

// facts returns an event of every type with all its fields, and variants that lack optional fields or are sent in TEFCA
// mode.
func facts() []fact {
	var all []fact
	for _, k := range webhook.Catalogue() {
		if success, ok := k.Example.(webhook.ExportSuccess); ok { // includes the fields that operators can enable
			success.DownloadLink = &success.DownloadLinks[0]
			k.Example = success
		}
		all = append(all, fact{string(k.Type), k.Type, k.Example})
	}
	return append(all, []fact{
		{
			"patient.ehi_export_success-two", webhook.ExportSucceeded,
			webhook.ExportSuccess{
				DownloadLinks: []webhook.DownloadLink{
					{URL: "https://api.example/v1/x?token=t&a=b", ExportType: "jsonl", ContentType: "application/fhir+ndjson"},
					{URL: "https://api.example/v1/y", ExportType: "outcome", ContentType: "application/json"},
				},
				OrgConnectionID: connID, TaskID: taskID, OrgID: tenant.OrgID,
				Stats: webhook.Stats{TotalByResourceType: map[string]int{}},
			},
		},
		{
			"patient.ehi_export_success-incomplete", webhook.ExportSucceeded,
			webhook.ExportSuccess{
				DownloadLinks: []webhook.DownloadLink{{
					URL: "https://api.example/v1/x", ExportType: "jsonl",
					ContentType: "application/fhir+ndjson",
				}},
				OrgConnectionID: connID, TaskID: taskID, OrgID: tenant.OrgID,
				Stats: webhook.Stats{TotalResources: 1, TotalByResourceType: map[string]int{"Patient": 1}},
				Shortfall: webhook.Shortfall{
					Complete: new(bool), Missing: map[string]string{"Observation": "foreign_link", "Binary": "other_server"},
				},
			},
		},
		{
			"patient.connection_success-rejected", webhook.ConnectionSucceeded,
			webhook.ConnectionSuccess{
				OrgConnectionID: connID, EndpointID: endpointID, PortalID: portalID, BrandID: brandID,
				ConnectionStatus: "rejected", PlatformType: "sandbox", RequestID: "their own",
			},
		},
		{
			"patient.connection_success-tefca", webhook.ConnectionSucceeded,
			webhook.ConnectionSuccess{
				OrgConnectionID: connID, ConnectionStatus: "authorized", PlatformType: "tefca", RequestID: "their own",
				Scope: "patient/*.read", TEFCADirectoryID: "urn:oid:2.999.1",
			},
		},
		{
			"patient.authorization_revoked-tefca", webhook.AuthorizationEnded,
			webhook.AuthorizationRevoked{OrgConnectionID: connID, PlatformType: "tefca", ConnectionStatus: "revoked"},
		},
		{
			"patient.authorization_expiring-tefca", webhook.AuthorizationEnding,
			webhook.AuthorizationExpiring{
				OrgConnectionID: connID, PlatformType: "tefca", ConsentExpiresAt: "2026-11-28T09:30:00Z", Cause: "consent_expires",
				SuggestedAction: "Ask the patient to reconnect.",
			},
		},
		{
			"patient.connection_failed-first", webhook.ConnectionFailed,
			webhook.ConnectionFailure{
				EndpointID: endpointID, PortalID: portalID, BrandID: brandID, RequestID: requestID, Error: "invalid_client",
				ErrorDescription: "The sign-in could not be completed.", Cause: "invalid_client", SuggestedAction: "Contact us.",
			},
		},
		{
			"patient.request_health_system-short", webhook.HealthSystemRequested,
			webhook.HealthSystemRequest{Email: "patient@example.com", Name: "Example Hospital"},
		},
		{
			"patient.request_support-short", webhook.SupportRequested,
			webhook.SupportRequest{Email: "patient@example.com", Body: "Où est <mon> hôpital ?\n\"Oui\""},
		},
	}...)
}

const (
	connID     = "0c000000-0000-4000-8000-000000000001"
	endpointID = "0c000000-0000-4000-8000-000000000002"
	portalID   = "0c000000-0000-4000-8000-000000000003"
	brandID    = "0c000000-0000-4000-8000-000000000004"
	requestID  = "0c000000-0000-4000-8000-000000000005"
	taskID     = "0c000000000040008000000000000006"
)

// TestEventBodiesMatchGoldenFiles checks the bytes that customers receive. Changing a golden file changes the public
// contract (docs/guide/webhook-reference.md, Body).
func TestEventBodiesMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 3, 4, 6, 6, 7, 120000000, time.FixedZone("CET", 3600))
	kept, err := filepath.Glob("testdata/*.json")
	expect.NoError(t, err)
	if len(kept) != len(facts()) {
		t.Errorf("%d files for %d facts", len(kept), len(facts()))
	}
	for _, f := range facts() {
		t.Run(f.file, func(t *testing.T) {
			t.Parallel()
			got, err := webhook.NewEvent(tenant, f.kind, "subject", 0, date, f.data)
			expect.NoError(t, err)
			want, err := os.ReadFile("testdata/" + f.file + ".json")
			expect.NoError(t, err)
			if diff := cmp.Diff(string(want), string(got.Body)+"\n"); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if got.ID != webhook.EventID(tenant, f.kind, "subject", 0) || got.Type != f.kind || got.Tenant != tenant ||
				!got.CreatedAt.Equal(date) {
				t.Errorf("event = %+v", got)
			}
		})
	}
}

func TestNewEventReturnsErrorForUnencodableData(t *testing.T) {
	t.Parallel()
	if _, err := webhook.NewEvent(tenant, webhook.TestEvent, "subject", 0, time.Time{}, math.NaN()); err == nil {
		t.Error("no error")
	}
}

func TestEventIDIsUniquePerEvent(t *testing.T) {
	t.Parallel()
	type source struct {
		tenant  org.Tenant
		kind    webhook.Type
		subject string
		number  int64
	}
	sources := []source{
		{tenant, webhook.TestEvent, "subject", 0},
		{tenant, webhook.TestEvent, "subject", 1},
		{tenant, webhook.TestEvent, "subject", 10},
		{tenant, webhook.TestEvent, "subject1", 0},
		{tenant, webhook.ExportFailed, "subject", 0},
		{org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, webhook.TestEvent, "subject", 0},
		{org.Tenant{Mode: org.Test, OrgID: "0b"}, webhook.TestEvent, "subject", 0},
	}
	seen := map[string]source{}
	for _, f := range sources {
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

func TestDeliveryIDIdentifiesEventAndSubscription(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 2 {
		for _, event := range []string{"e1", "e2"} {
			for _, subscription := range []string{"s1", "s2"} {
				seen[webhook.DeliveryID(event, subscription)] = true
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d ids, want one for each event and subscription", len(seen))
	}
}
