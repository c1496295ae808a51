package store_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// TestExtendNeverOverwritesAuditRow tries to add rows with sequence numbers already in use, based on the chain's
// current head and on an earlier head.
func TestExtendNeverOverwritesAuditRow(t *testing.T) {
	t.Parallel()
	own := tables.New(t)
	rows := store.Audit{DB: own.DB, Table: own.Name("AuditTable")}
	of := org.Tenant{Mode: org.Live, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, id := range []string{"first", "second"} {
		expect.NoError(t, audit.Log{Rows: rows}.Append(t.Context(), audit.Row{
			At: at, ID: id, Tenant: of, Actor: "operator", Action: "webhook.created", Target: "x",
		}))
	}
	before, err := rows.After(t.Context(), of.OrgID, 0, 10)
	expect.NoError(t, err)
	head, err := rows.Head(t.Context(), of.OrgID)
	expect.NoError(t, err)
	for _, claimed := range []audit.Head{head, {}, {Seq: 1, Hash: before[0].Hash}} {
		for seq := int64(1); seq <= 2; seq++ {
			forged := audit.Row{Seq: seq, At: at, ID: "forged", Tenant: of, Actor: "operator", Action: "nothing", Hash: "forged"}
			if err = rows.Extend(t.Context(), claimed, forged); !errors.Is(err, fault.Conflict) {
				t.Errorf("row %d behind %+v: %v, want fault.Conflict", seq, claimed, err)
			}
		}
	}
	after, err := rows.After(t.Context(), of.OrgID, 0, 10)
	expect.NoError(t, err)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

// TestAfterReturnsFullPageWhenRowsExceedOneMegabyte checks that a page is complete although DynamoDB returns at most
// 1 MB per response. An incomplete page would look like the end of the chain.
func TestAfterReturnsFullPageWhenRowsExceedOneMegabyte(t *testing.T) {
	t.Parallel()
	own := tables.New(t)
	rows := store.Audit{DB: own.DB, Table: own.Name("AuditTable")}
	log := audit.Log{Rows: rows}
	large := make([]audit.Change, 25)
	for i := range large {
		large[i] = audit.Change{Field: "redirect_uris", New: strings.Repeat("界", 200), Old: strings.Repeat("界", 200)}
	}
	const count = 45
	for n := range count {
		expect.NoError(t, log.Append(t.Context(), audit.Row{
			ID: strconv.Itoa(n), Tenant: org.Tenant{Mode: org.Live, OrgID: "alder"}, Actor: "operator", Changes: large,
		}))
	}
	if after, err := rows.After(t.Context(), "alder", 0, 100); err != nil || len(after) != count {
		t.Errorf("After returned %d rows and %v, want %d", len(after), err, count)
	}
	if before, err := rows.Before(t.Context(), "alder", 0, 40); err != nil || len(before) != 40 || before[39].Seq != 6 {
		t.Errorf("Before returned %d rows and %v, want 40", len(before), err)
	}
}
