package e2e_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// swap exchanges the stack's first two organisations, so that subsequent helpers act for the other one. Calling swap
// again restores the order.
func swap(s *stack) {
	all := s.seeded.Organisations
	all[0], all[2] = all[2], all[0]
}

func (s staff) runLeaving(owner *person) {
	s.t.Helper()
	at := "/dashboard/organisations/" + s.owner().OrgID + "/deletion"
	for what, body := range map[string]any{
		"no name":      map[string]string{},
		"another name": map[string]string{"name": "Another"},
	} {
		if status := owner.ask(http.MethodPost, at, body, nil); status != http.StatusBadRequest {
			s.t.Errorf("%s: %d", what, status)
		}
	}
	if status := owner.ask(http.MethodGet, at, nil, nil); status != http.StatusNotFound {
		s.t.Errorf("a deletion that nobody asked for: %d", status)
	}
	var shown struct {
		Stage     string `json:"stage"`
		CanCancel bool   `json:"can_cancel"`
	}
	owner.do(http.MethodPost, at, map[string]string{"name": organisationName(s.stack)}, &shown)
	if shown.Stage != "waiting" || !shown.CanCancel {
		s.t.Errorf("it begins as %+v", shown)
	}
	owner.do(http.MethodGet, at, nil, nil)
	owner.do(http.MethodDelete, at, nil, nil)
	if status := owner.ask(http.MethodDelete, at, nil, nil); status != http.StatusNotFound {
		s.t.Errorf("cancelling it twice: %d", status)
	}
}

func organisationName(s *stack) string {
	s.t.Helper()
	found, err := s.operator.Organisations.Show(s.t.Context(), s.owner())
	expect.NoError(s.t, err)
	return found.Name
}

// leave creates every kind of data in the first organisation, requests the organisation's deletion and waits until the
// deletion is about to start. It returns the connections' IDs.
func leave(s *stack) []string {
	s.t.Helper()
	ctx := s.t.Context()
	first := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	s.org.startExport(first)
	if got := s.patient.form("/support/request", supportForm("")); got.status != http.StatusOK {
		s.t.Fatalf("asking for help answered %d %s", got.status, got.raw)
	}
	hooks, err := s.operator.Webhooks.List(ctx, s.owner())
	expect.NoError(s.t, err)
	_, err = s.operator.Deliveries.Simulate(ctx, s.owner(), hooks[0].ID, webhook.TestEvent)
	expect.NoError(s.t, err)
	s.clock.advance(10)
	<-time.After(26 * time.Hour)
	s.countUsage()
	owner := s.staff.newOwner()
	owner.do(http.MethodPost, "/dashboard/organisations/"+s.owner().OrgID+"/invitations",
		map[string]string{"email": "bob@alder.example", "role": "viewer"}, nil)
	s.staff.runLeaving(owner)
	<-time.After(24 * time.Hour) // a deletion can be requested only once a day
	owner.signIn()
	owner.do(http.MethodPost, "/dashboard/organisations/"+s.owner().OrgID+"/deletion",
		map[string]string{"name": organisationName(s)}, nil)
	<-time.After(7*24*time.Hour - 5*time.Minute)
	second := s.patient.connect("alder-maple", "approve").Get("org_connection_id")
	s.crash("ExportWorkerFunction", 12) // prevents the next export from finishing
	s.org.startExport(second)
	s.clock.advance(1)
	if got := s.org.request(http.MethodGet, "/bridge/org_connection/"+second, nil); got.status != http.StatusOK {
		s.t.Errorf("within the waiting time the API answers %d", got.status)
	}
	return []string{first, second}
}

func runDeletion(s *stack) {
	s.t.Helper()
	gone := leave(s)
	s.clock.advance(15)
	<-time.After(2 * time.Hour)
	s.clock.advance(20)
	checkDeleted(s, s.owner().OrgID, gone)
}

// checkDeleted checks that the deletion is complete and has exactly one proof.
func checkDeleted(s *stack, orgID string, connections []string) {
	s.t.Helper()
	of := org.Tenant{Mode: org.Live, OrgID: orgID}
	d, err := s.operator.Deletions.Show(s.t.Context(), of)
	expect.NoError(s.t, err)
	if d.Stage != deletion.Done || d.Counts.Connections != int64(len(connections)) {
		s.t.Errorf("it stands as %+v", d)
	}
	log := wiring.AuditLog(s.cloud.Config("reader"), map[string]string{"AuditTable": "test-AuditTable"})
	rows, _, err := log.List(s.t.Context(), orgID, 0, 100)
	expect.NoError(s.t, err)
	rows = slices.DeleteFunc(rows, func(r audit.Row) bool { return r.Action != "organisation.deleted" })
	if len(rows) != 1 || !strings.HasPrefix(rows[0].Target, orgID+" credentials=") || rows[0].Actor != "eraser" {
		s.t.Errorf("the proof is %+v", rows)
	}
	report, err := log.Verify(s.t.Context(), orgID)
	expect.NoError(s.t, err)
	if len(report.Breaks) > 0 {
		s.t.Errorf("the chain has breaks: %v", report.Breaks)
	}
}

// checkWhatStays searches the remaining rows and objects for the given IDs. Only the data listed in
// docs/develop/lifecycles.md may contain the IDs.
func checkWhatStays(t *testing.T, s *stack, ids ...string) {
	t.Helper()
	for _, table := range s.cloud.DynamoDB().Tables() {
		if table.Name == "test-SandboxTable" || table.Name == "test-AuditTable" {
			continue
		}
		for _, item := range s.state.browse(table.Name) {
			text, err := json.Marshal(item)
			expect.NoError(t, err)
			row, pk := string(text)+binaries(text), string(item["pk"])
			passing := table.Name == "test-FlowTable" || table.Name == "test-RequestLogTable" ||
				slices.ContainsFunc([]string{"#TEFCA#", "#ERASED#", "#NOTICE#", "#ANSWERS", "#DELETION"}, func(kind string) bool {
					return strings.Contains(pk, kind)
				})
			if _, ends := item["ttl"]; ends && passing {
				continue // DynamoDB deletes the row after it expires
			}
			for _, id := range ids {
				if strings.Contains(row, id) {
					t.Errorf("%s still has %s in %s", table.Name, id, row)
				}
			}
		}
	}
	for _, key := range s.state.objects() {
		for _, id := range ids {
			if strings.Contains(key, id) {
				t.Errorf("the bucket still holds %s", key)
			}
		}
	}
}

// keysOf returns the keys of all rows that mention an organisation and never expire.
func keysOf(s *stack, orgID string) []string {
	s.t.Helper()
	var keys []string
	for _, table := range s.cloud.DynamoDB().Tables() {
		for _, item := range s.state.browse(table.Name) {
			text, err := json.Marshal(item)
			expect.NoError(s.t, err)
			if _, ends := item["ttl"]; !ends && strings.Contains(string(text), orgID) {
				keys = append(keys, table.Name+string(item["pk"])+string(item["sk"]))
			}
		}
	}
	return keys
}

// TestOrganisationDeletionLeavesOnlyDocumentedRows checks that only a deleted organisation's documented rows remain.
// Other organisations must not lose data.
func TestOrganisationDeletionLeavesOnlyDocumentedRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		swap(s)
		kept := s.patient.connect("willow-ash", "approve").Get("org_connection_id")
		s.org.startExport(kept)
		s.clock.advance(5)
		other := s.owner().OrgID
		swap(s)
		own := s.owner()
		gone := leave(s)
		before, files := keysOf(s, other), len(s.state.objects())
		s.clock.advance(15)
		got := s.org.request(http.MethodGet, "/bridge/org_connection/"+gone[0], nil)
		if got.status != http.StatusUnauthorized {
			t.Errorf("once it has begun the API answers %d", got.status)
		}
		sent := len(s.webhooks.events(string(webhook.TestEvent)))
		if err := s.operator.Deletions.Cancel(t.Context(), own); !errors.Is(err, fault.Conflict) {
			t.Errorf("cancelling it once it has begun: %v", err)
		}
		if err := s.operator.Suspensions.Resume(t.Context(), own); !errors.Is(err, fault.Conflict) {
			t.Errorf("resuming it: %v", err)
		}
		<-time.After(2 * time.Hour)
		s.clock.advance(20)
		// The running export must fail and the grants must be revoked, but the service must not send events.
		failed, revoked := s.webhooks.events("patient.ehi_export_failed"), s.webhooks.events("patient.authorization_revoked")
		if told := len(failed) + len(revoked); told != 0 {
			t.Errorf("%d events were sent after it had begun", told)
		}
		checkDeleted(s, own.OrgID, gone)
		checkWhatStays(t, s, append(gone, own.OrgID, crashPersona)...)
		after := keysOf(s, other)
		for _, key := range before {
			if !slices.Contains(after, key) {
				t.Errorf("the other organisation lost %s", key)
			}
		}
		if files == 0 || len(before) < 5 || sent != len(s.webhooks.events(string(webhook.TestEvent))) {
			t.Errorf("%d files and %d rows of the other one beforehand", files, len(before))
		}
		if _, err := s.operator.Organisations.Show(t.Context(), own); !errors.Is(err, fault.NotFound) {
			t.Errorf("the organisation: %v", err)
		}
		swap(s)
		if got := s.org.request(http.MethodGet, "/bridge/org_connection/"+kept, nil); got.status != http.StatusOK {
			t.Errorf("the other organisation's connection answers %d", got.status)
		}
	})
}

// TestOrganisationDeletionSurvivesCrashAnywhere checks that, whichever call the eraser crashes after, only the
// documented rows and a single proof of deletion remain.
func TestOrganisationDeletionSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	sweepCrashes(t, "EraserFunction", func(t *testing.T, s *stack) {
		t.Helper()
		own := s.owner()
		gone := leave(s)
		s.clock.advance(25)
		<-time.After(2 * time.Hour)
		s.clock.advance(30)
		checkDeleted(s, own.OrgID, gone)
		checkWhatStays(t, s, append(gone, own.OrgID)...)
	})
}

// TestOperatorDeletionHasSameWaitingPeriodAsOwnerDeletion checks that a deletion has the same waiting period whether an
// operator or an owner requests it.
func TestOperatorDeletionHasSameWaitingPeriodAsOwnerDeletion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		made, err := s.operator.Organisations.Create(t.Context(), org.Organisation{
			Name: "Cedar Practice", Plan: org.Free, LiveAccess: org.LiveGranted, Emails: []string{"it@cedar.example"},
		})
		expect.NoError(t, err)
		of := org.Tenant{Mode: org.Live, OrgID: made.ID}
		_, _, err = s.operator.Credentials.Create(t.Context(),
			operator.CredentialDraft{Tenant: of, Redirects: []string{"https://app.example/return"}})
		expect.NoError(t, err)
		if _, err = s.operator.Deletions.Request(t.Context(), of, "cedar practice"); !errors.Is(err, fault.Invalid) {
			t.Errorf("another name: %v", err)
		}
		d, err := s.operator.Deletions.Request(t.Context(), of, made.Name)
		expect.NoError(t, err)
		if !d.BeginsAt.Equal(time.Now().Add(7 * 24 * time.Hour)) {
			t.Errorf("it begins at %s", d.BeginsAt)
		}
		told := s.cloud.SES().Sent()
		if len(told) == 0 || told[len(told)-1].To[0] != "it@cedar.example" ||
			!strings.Contains(told[len(told)-1].Text, "Deletion starts") {
			t.Errorf("told %+v", told)
		}
		<-time.After(7*24*time.Hour - time.Minute)
		s.clock.advance(0)
		if got, err := s.operator.Organisations.Show(t.Context(), of); err != nil || got.Status != org.Active {
			t.Errorf("before its time it is %s: %v", got.Status, err)
		}
		s.clock.advance(3)
		<-time.After(2 * time.Hour)
		s.clock.advance(5)
		checkDeleted(s, made.ID, nil)
		checkWhatStays(t, s, made.ID)
	})
}
