package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/tefca"
	vault "recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
)

// facilityPatient is the ID of the Patient resource in every facility's record.
const facilityPatient = "5f0b2d5e-4a5b-5d8e-9c3f-000000000001"

// facilityRecord returns a facility's converted documents, which exceed the size of a chunk.
func facilityRecord() []string {
	const observations = 6
	all := make([]string, 0, 1+observations)
	all = append(all, `{"resourceType":"Patient","id":"`+facilityPatient+`"}`)
	for n := range observations {
		all = append(all,
			fmt.Sprintf(
				`{"resourceType":"Observation","id":"5f0b2d5e-4a5b-5d8e-9c3f-1%011d","subject":{"reference":"Patient/%s"},`+
					`"valueString":"%s"}`,
				n, facilityPatient, strings.Repeat("x", 1<<20)))
	}
	return all
}

func (s ehr) documents() blob.Bucket {
	return blob.Bucket{
		Client: s3.NewFromConfig(s.cloud.Config("test")),
		Name:   s.functions["ExportWorkerFunction"].declared.Environment["DOCUMENTS_BUCKET"],
	}
}

// cached returns the bucket's objects that hold cached records.
func (s ehr) cached() []string {
	s.t.Helper()
	bucket := s.ehr.documents()
	keys, err := blob.Folders{Client: s3.NewFromConfig(s.cloud.Config("test")), Name: bucket.Name}.List(s.t.Context(), "")
	expect.NoError(s.t, err)
	return keys
}

func seal(s *stack, purpose string) *kms.Sealer {
	return kms.New(awskms.NewFromConfig(s.cloud.Config("test")),
		kms.TokensKey(s.functions["ExportWorkerFunction"].declared.Environment["TOKENS_KEY"]), purpose, time.Now)
}

// connectFacility stores a connection to a TEFCA facility whose record has just been fetched.
func (s ehr) connectFacility(resources []string, lost map[string]int) (id string, ends time.Time) {
	s.t.Helper()
	put := func(all ...string) records.Feed {
		return func(put func([]byte) error) error {
			for _, one := range all {
				if err := put([]byte(one)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	now, tenant := time.Now(), s.owner()
	id = ids.Random()
	cache := records.Cache{
		Objects: s.ehr.documents(),
		Sealer:  seal(s.stack, records.Purpose),
		Now:     time.Now,
		NewID:   ids.Random,
	}
	held, err := cache.Write(s.t.Context(), tenant, id, records.Content{
		Generation: 1, Resources: put(resources...), Documents: 2, Lost: lost,
		Fixtures: map[string]records.Feed{
			"alder.xml": put(`{"resourceType":"Patient","id":"alder"}`),
			"birch.xml": put(`{"resourceType":"Patient","id":"birch"}`),
		},
	})
	expect.NoError(s.t, err)
	set := tokens.Set{Scope: tefca.Scope, ExpiresAt: held.Until, Records: &held}
	row, err := tokens.Vault{Sealer: seal(s.stack, tokens.Purpose)}.Seal(s.t.Context(), tenant, id, 1, set)
	expect.NoError(s.t, err)
	f := vault.Facility{
		ID: "urn:oid:2.999.1.7", Match: tefca.Found, Outcome: vault.IsConnecting,
		ExpiresAt: now.Add(binding.Lifetime),
	}
	c := connection.Connection{
		ID: id, Tenant: tenant, Status: connection.Authorized, PlatformType: connection.TEFCAPlatform, DirectoryID: f.ID,
		Scope: tefca.Scope,
		// Recognisable keys let tests find the rows that contain them.
		Generation: 1, CreatedAt: now, VaultKey: "vault of " + id, PersonKey: "person of " + id,
	}.EndingAt(held.Until)
	table, work := store.Flow{DB: s.rows, Table: "test-FlowTable"}, store.Work{DB: s.rows, Table: "test-WorkTable"}
	rows := store.TEFCAConnections{TEFCA: store.TEFCA{Flow: table, Work: work}, Ends: store.NewConclusions(
		table, store.Connections{DB: s.rows, Table: "test-ConnectionTable"},
		store.Tokens{DB: s.rows, Table: "test-TokensTable"}, store.Events(work))}
	attemptID := ids.Random()
	expect.NoError(s.t, rows.SaveFacility(s.t.Context(), tenant, attemptID, f))
	f.Rev, f.Outcome, f.Connected = 1, vault.IsConnected, vault.Connected{ConnectionID: id, ConsentExpiresAt: held.Until}
	expect.NoError(s.t, rows.Conclude(s.t.Context(),
		vault.Conclusion{AttemptID: attemptID, Facility: f, Connection: c, Tokens: row}))
	return id, held.Until
}

// checkFacilityRecord checks that a single success event was sent, and that it links to the complete record.
func checkFacilityRecord(s *stack) {
	s.t.Helper()
	if found := s.org.download(s.webhooks.exportEvent().DownloadLinks[0].URL); found["Patient"][facilityPatient] != 1 ||
		len(found["Observation"]) != 6 {
		s.t.Errorf("the file holds %v", found)
	}
}

// runFacility exports a cached record, then ends a connection in each possible way. Each way of ending the connection
// must delete the cached record.
func runFacility(s *stack) {
	s.t.Helper()
	id, _ := s.ehr.connectFacility(facilityRecord(), nil)
	s.org.startExport(id)
	s.clock.advance(1)
	checkFacilityRecord(s)
	if got := s.org.request(http.MethodDelete, "/bridge/org_connection/"+id, nil); got.status != http.StatusOK {
		s.t.Errorf("giving it up answered %d %s", got.status, got.raw)
	}
	if left := s.ehr.cached(); len(left) != 0 {
		s.t.Errorf("cached are still %v", left)
	}
	id, _ = s.ehr.connectFacility(facilityRecord()[:1], nil)
	c := newConsole(s)
	for at, shown := range map[string]map[string]any{
		"in the list": entryWith(c.do(http.MethodGet, "/connections", nil), "connections", "org_connection_id", id),
		"alone":       c.do(http.MethodGet, "/connections/"+id, nil),
	} {
		if text(shown, "tefca_directory_id") != "urn:oid:2.999.1.7" || text(shown, "platform_type") != "tefca" ||
			shown["endpoint_id"] != nil {
			s.t.Errorf("%s it is %v", at, shown)
		}
	}
	if got := c.do(http.MethodPost, "/connections/"+id+"/disconnect", nil); text(got,
		"tefca_directory_id") != "urn:oid:2.999.1.7" || got["endpoint_id"] != nil {
		s.t.Errorf("given up by a member it is %v", got)
	}
	id, _ = s.ehr.connectFacility(facilityRecord()[:1], nil)
	s.staff.requestErasure(id)
	s.clock.advance(40)
	s.check.erased(id)
	if left := s.ehr.cached(); len(left) != 0 {
		s.t.Errorf("cached are still %v", left)
	}
	_, ends := s.ehr.connectFacility(facilityRecord()[:1], nil)
	<-time.After(time.Until(ends))
	s.clock.advance(2)
	if left := s.ehr.cached(); len(left) != 0 {
		s.t.Errorf("cached are still %v", left)
	}
}

// TestFacilityRecordCanBeExportedUntilConnectionExpires checks that a facility's record can be exported until the
// connection expires, and that the expiry is announced immediately. When the connection expires, it must be revoked
// exactly once and its cached record must be deleted. Events must omit IDs that the connection does not have.
func TestFacilityRecordCanBeExportedUntilConnectionExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.org.subscribe(webhook.AuthorizationEnding)
		id, ends := s.ehr.connectFacility(facilityRecord(), map[string]int{"unavailable": 1})
		s.clock.advance(3)
		s.check.warned(id, ends)
		shown := s.org.request(http.MethodGet, "/bridge/org_connection/"+id, nil)
		if got := string(shown.Data); strings.Contains(got, "catalog_") ||
			!strings.Contains(got, `"tefca_directory_id":"urn:oid:2.999.1.7","platform_type":"tefca"`) {
			t.Errorf("the record of the connection is %s", got)
		}
		<-time.After(time.Until(ends) - 5*time.Minute)
		s.org.startExport(id)
		s.clock.advance(1)
		checkFacilityRecord(s)
		if told := s.webhooks.events("patient.ehi_export_success")[0].Body; !strings.Contains(told,
			`"complete":false,"missing":{"DocumentReference":"unavailable"}`) {
			t.Errorf("told %s", told)
		}
		<-time.After(time.Until(ends))
		s.clock.advance(2)
		s.check.revoked(id, "access_expired")
		if left := s.ehr.cached(); len(left) != 0 {
			t.Errorf("cached are still %v", left)
		}
		for _, told := range append(s.webhooks.events("patient.authorization_revoked"),
			s.webhooks.events("patient.authorization_expiring")...) {
			if strings.Contains(told.Body, "endpoint_id") || !strings.Contains(told.Body, `"platform_type":"tefca"`) {
				t.Errorf("told %s", told.Body)
			}
		}
		if again := s.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
			map[string]any{"org_connection_id": id, "refresh": true}); again.status != http.StatusConflict {
			t.Errorf("a later export answered %d", again.status)
		}
	})
}

// TestExportRevokesExpiredFacilityConnection checks that an export after the connection's expiry fails as if its tokens
// could not be refreshed, and revokes the connection.
func TestExportRevokesExpiredFacilityConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		id, ends := s.ehr.connectFacility(facilityRecord()[:1], nil)
		s.forgetEnd(id)
		<-time.After(time.Until(ends))
		taskID := s.org.startExport(id)
		s.clock.advance(2)
		if got := s.state.task(taskID).text("failure_reason"); got != "token_refresh_failure" {
			t.Errorf("the export failed because of %q", got)
		}
		s.check.revoked(id, "access_expired")
	})
}

// TestFacilityExportFailsWithoutDocuments checks that an export without documents fails unless the request specifies a
// fixture. A later request that specifies no fixture must fail again.
func TestFacilityExportFailsWithoutDocuments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		id, _ := s.ehr.connectFacility(nil, nil)
		first := s.org.startExport(id)
		s.clock.advance(1)
		if got := s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+first+"?include=result",
			nil); !strings.Contains(string(got.Data), `"failure_reason":"tefca_no_documents_found"`) {
			t.Errorf("without documents: %s", got.raw)
		}
		if failed := s.webhooks.events("patient.ehi_export_failed"); len(failed) != 1 ||
			!strings.Contains(failed[0].Body, "tefca_no_documents_found") {
			t.Errorf("told %v", failed)
		}
		ask := func(fixture string) (taskID string) {
			t.Helper()
			got := s.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
				map[string]any{"org_connection_id": id, "fixtures": map[string]string{"tefca_ccda": fixture}})
			var task struct {
				ID string `json:"task_id"`
			}
			if err := json.Unmarshal(got.Data, &task); err != nil || got.status != http.StatusOK {
				t.Fatalf("%s: %d %s", fixture, got.status, got.raw)
			}
			s.clock.advance(1)
			return task.ID
		}
		alder, birch, again := ask("alder.xml"), ask("birch.xml"), ask("birch.xml")
		if alder == birch || birch != again {
			t.Errorf("tasks %s, %s and %s, want two", alder, birch, again)
		}
		sent := s.webhooks.events("patient.ehi_export_success")
		held := make([]string, 0, len(sent))
		for _, told := range sent {
			var body struct {
				Data exportData `json:"data"`
			}
			expect.NoError(t, json.Unmarshal([]byte(told.Body), &body))
			for patient := range s.org.download(body.Data.DownloadLinks[0].URL)["Patient"] {
				held = append(held, patient)
			}
		}
		if slices.Sort(held); !slices.Equal(held, []string{"alder", "birch"}) {
			t.Errorf("the files are of %v", held)
		}
		other := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		refused := s.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
			map[string]any{"org_connection_id": other, "fixtures": map[string]string{"tefca_ccda": "alder.xml"}})
		if refused.status != http.StatusBadRequest ||
			!strings.Contains(string(refused.raw), "only for TEFCA connections in test mode") {
			t.Errorf("on another connection: %d %s", refused.status, refused.raw)
		}
	})
}

// TestFacilityExportSurvivesCrashAnywhere checks that an export produces one file and one event, whichever call the
// worker crashes after.
func TestFacilityExportSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	sweepCrashes(t, "ExportWorkerFunction", func(t *testing.T, s *stack) {
		t.Helper()
		id, _ := s.ehr.connectFacility(facilityRecord(), nil)
		s.requestUntilAccepted(t, id)
		s.clock.finish(130)
		s.check.oneResult(t)
		checkFacilityRecord(s)
		s.check.nothingPending(t)
	})
}

// TestFacilityDisconnectionSurvivesCrashAnywhere checks that no tokens or cached data remain after a connection
// expires, is erased, or is disconnected with retries.
func TestFacilityDisconnectionSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		sweepCrashes(t, "DeleteConnectionFunction", func(t *testing.T, s *stack) {
			t.Helper()
			id, _ := s.ehr.connectFacility(facilityRecord(), nil)
			path := "/bridge/org_connection/" + id
			for tries := 0; s.org.request(http.MethodDelete, path, nil).status != http.StatusOK; tries++ {
				if tries > 3 {
					t.Fatal("it cannot be given up")
				}
			}
			if left := s.ehr.cached(); len(left) != 0 || s.state.tokens(id)["sealed"] != nil {
				t.Errorf("cached are still %v", left)
			}
		})
	})
	t.Run("over", func(t *testing.T) {
		t.Parallel()
		sweepCrashes(t, "RefreshWorkerFunction", func(t *testing.T, s *stack) {
			t.Helper()
			id, ends := s.ehr.connectFacility(facilityRecord()[:1], nil)
			<-time.After(time.Until(ends))
			s.clock.advance(30)
			if s.check.revoked(id, "access_expired"); len(s.ehr.cached()) != 0 {
				t.Errorf("cached are still %v", s.ehr.cached())
			}
		})
	})
	t.Run("erased", func(t *testing.T) {
		t.Parallel()
		sweepCrashes(t, "EraserFunction", func(t *testing.T, s *stack) {
			t.Helper()
			id, _ := s.ehr.connectFacility(facilityRecord(), nil)
			s.staff.requestErasure(id)
			s.clock.advance(60)
			if e := s.check.erased(id); e.Stage != erase.Done || len(s.ehr.cached()) != 0 {
				t.Errorf("%+v, cached are still %v", e, s.ehr.cached())
			}
			<-time.After(2 * time.Hour) // longer than the lifetimes of the attempt and the erasure record
			s.check.nothingIsLeft(t, id)
		})
	})
}
