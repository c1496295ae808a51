package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/erase"
)

// erased connects a patient, creates every kind of data that a connection can have, and requests the connection's
// erasure. It returns the IDs of the connection and its exports.
func erased(s *stack) (id string, exports []string) {
	s.t.Helper()
	s.refuseWebhooks(1)
	id = s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	exports = append(exports, s.org.startExport(id))
	asked := supportForm("")
	asked["body"] = "What has become of " + id + "?"
	if got := s.patient.form("/support/request", asked); got.status != http.StatusOK {
		s.t.Fatalf("asking for help answered %d %s", got.status, got.raw)
	}
	s.clock.advance(10)
	<-time.After(25 * time.Hour)
	s.crash("ExportWorkerFunction", 12) // keeps the next export running so that its slot stays occupied
	exports = append(exports, s.org.startExport(id))
	s.staff.requestErasure(id)
	return id, exports
}

func (s staff) requestErasure(id string) {
	s.t.Helper()
	e, err := s.operator.Erasures.Request(s.t.Context(), s.owner(), id)
	expect.NoError(s.t, err)
	if e.Stage != erase.Finding || e.ConnectionID != id {
		s.t.Errorf("it begins as %+v", e)
	}
}

// runErase erases a connection while its export is running.
func runErase(s *stack) {
	s.t.Helper()
	id, _ := erased(s)
	s.clock.advance(40)
	s.check.erased(id)
}

// erased checks that the erasure is complete and has exactly one proof.
func (s checks) erased(id string) erase.Erasure {
	s.t.Helper()
	e, err := s.operator.Erasures.Show(s.t.Context(), s.owner(), id)
	expect.NoError(s.t, err)
	if e.Stage != erase.Done || e.ConnectionID != "" {
		s.t.Errorf("it stands as %+v", e)
	}
	log := wiring.AuditLog(s.cloud.Config("reader"), map[string]string{"AuditTable": "test-AuditTable"})
	rows, _, err := log.List(s.t.Context(), s.owner().OrgID, 0, 100)
	expect.NoError(s.t, err)
	rows = slices.DeleteFunc(rows, func(r audit.Row) bool { return r.Action != "connection.erased" })
	if len(rows) != 1 || !strings.HasPrefix(rows[0].Target, id+" portal=") || rows[0].Actor != "eraser" {
		s.t.Errorf("the proof is %+v", rows)
	}
	return e
}

// nothingIsLeft searches every row and object for the IDs. It allows the IDs in the erasure's audit rows, in the
// request log and in two kinds of expired rows: rows of attempts, and rows that prevent attempts from creating the
// connection again.
func (s checks) nothingIsLeft(t *testing.T, ids ...string) {
	t.Helper()
	for _, table := range s.cloud.DynamoDB().Tables() {
		if table.Name == "test-SandboxTable" { // the simulated portal's table
			continue
		}
		for _, item := range s.state.browse(table.Name) {
			text, err := json.Marshal(item)
			expect.NoError(t, err)
			if _, ends := item["ttl"]; ends && table.Name == "test-RequestLogTable" {
				continue // its rows expire within 30 days
			}
			row := string(text) + binaries(text)
			pk := string(item["pk"])
			ofAttempt := table.Name == "test-FlowTable" || strings.Contains(pk, "#TEFCA#") || strings.Contains(pk, "#ERASED#")
			if ends, isPassing := item["ttl"]; isPassing && ofAttempt && numberOf(t, ends) < time.Now().Unix() {
				continue // DynamoDB will delete the expired row
			}
			for _, id := range ids {
				isAudit := table.Name == "test-AuditTable" && strings.Contains(row, "connection.eras")
				if strings.Contains(row, id) && !isAudit {
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

func numberOf(t *testing.T, attribute json.RawMessage) int64 {
	t.Helper()
	var number struct {
		N int64 `json:",string"`
	}
	expect.NoError(t, json.Unmarshal(attribute, &number))
	return number.N
}

// TestErasureLeavesNoData checks that no table or bucket contains an erased connection's data. Other connections must
// keep all their data.
func TestErasureLeavesNoData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		other := s.patient.connect("alder-maple", "approve").Get("org_connection_id")
		kept := s.org.startExport(other)
		s.clock.advance(5)
		id, exports := erased(s)
		s.clock.advance(40)
		e := s.check.erased(id)
		want := erase.Counts{
			Connections: 1, Tokens: 1, Exports: 2, Files: e.Counts.Files, Events: 4, Deliveries: 4,
			Attempts: 5, Inquiries: 1,
		}
		if e.Counts != want || e.Counts.Files == 0 || e.Portal != erase.Asked {
			t.Errorf("removed %+v, portal %s; want %+v, asked", e.Counts, e.Portal, want)
		}
		<-time.After(3 * time.Hour) // longer than the lifetime of an attempt
		s.check.nothingIsLeft(t, append(exports, id, crashPersona)...)
		if got := s.org.request(http.MethodGet, "/bridge/org_connection/"+id, nil); got.status != http.StatusNotFound {
			t.Errorf("the connection answers %d", got.status)
		}
		if got := s.org.request(http.MethodGet, "/bridge/org_connection/"+other, nil); got.status != http.StatusOK {
			t.Errorf("the other connection answers %d", got.status)
		}
		if got := s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+kept+"?include=result",
			nil); got.status != http.StatusOK || len(s.state.objects()) != 2 {
			t.Errorf("the other export answers %d, the bucket holds %v", got.status, s.state.objects())
		}
		again, err := s.operator.Erasures.Request(t.Context(), s.owner(), id)
		expect.NoError(t, err)
		if again.Stage != erase.Done {
			t.Errorf("asked again it is %+v", again)
		}
	})
}

// TestErasureSurvivesCrashAnywhere checks that, whichever call the eraser crashes after, the erasure completes with a
// single proof.
func TestErasureSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	sweepCrashes(t, "EraserFunction", func(t *testing.T, s *stack) {
		t.Helper()
		id, exports := erased(s)
		s.clock.advance(60)
		s.check.erased(id)
		<-time.After(3 * time.Hour)
		s.check.nothingIsLeft(t, append(exports, id)...)
	})
}
