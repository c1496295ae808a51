package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/org"
)

const orgID = "0a000000-0000-4000-8000-00000000000a"

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: orgID}
	noon   = time.Date(2026, 3, 31, 23, 59, 50, 0, time.UTC)
)

type fixture struct {
	log  audit.Log
	made tables.Tables
}

// newFixture returns a chain whose rows are seconds apart and span the end of a month.
func newFixture(t *testing.T, rows int) fixture {
	t.Helper()
	made := tables.New(t)
	b := fixture{log: audit.Log{Rows: store.Audit{DB: made.DB, Table: made.Name("AuditTable")}}, made: made}
	for n := range rows {
		b.add(t, tenant, n+1)
	}
	return b
}

func (b fixture) add(t *testing.T, of org.Tenant, n int) {
	t.Helper()
	at := noon.Add(time.Duration(n) * 3 * time.Second)
	expect.NoError(t, b.log.Append(t.Context(), audit.Row{
		At: at, ID: fmt.Sprintf("id-%d", n), Tenant: of, Actor: "operator", Action: "credential.created",
		Target: fmt.Sprintf("target-%d", n),
	}))
}

func (b fixture) verify(t *testing.T, known ...audit.Head) []audit.Break {
	t.Helper()
	report, err := b.log.Verify(t.Context(), orgID, known...)
	expect.NoError(t, err)
	if report.IsIntact() != (len(report.Breaks) == 0) {
		t.Errorf("%v is whole: %t", report.Breaks, report.IsIntact())
	}
	return report.Breaks
}

// TestHashMatchesDocumentedFormat checks the hashed text, which must never change (docs/operate/audit.md). The expected
// hash was computed with Python's json and hashlib modules.
func TestHashMatchesDocumentedFormat(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 0)
	expect.NoError(t, b.log.Append(t.Context(), audit.Row{
		At: noon.Add(1234567 * time.Nanosecond), ID: "1", Tenant: tenant, Actor: "member:é",
		Action: "a<b>&\"c\"\\u2028", Target: "tab\tand line\u2028separator",
	}))
	rows, _, err := b.log.List(t.Context(), orgID, 0, 1)
	expect.NoError(t, err)
	if want := "e67b08fed1e3b8c2e420824f7769d8be398378ebef98a677ffc2705a418db182"; len(rows) != 1 || rows[0].Hash != want {
		t.Errorf("row %+v, want hash %s", rows, want)
	}
}

func TestListReturnsNewestRowsFirstInPages(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 7)
	b.add(t, org.Tenant{Mode: org.Live, OrgID: orgID}, 8)
	b.add(t, org.Tenant{Mode: org.Test, OrgID: "0b000000-0000-4000-8000-00000000000b"}, 1)
	b.add(t, org.Tenant{}, 1)
	var got []string
	for before := int64(0); ; {
		rows, next, err := b.log.List(t.Context(), orgID, before, 3)
		expect.NoError(t, err)
		for _, row := range rows {
			got = append(got, fmt.Sprintf("%d %s %s %s %s", row.Seq, row.Tenant.Mode, row.At.Format("01-02 15:04:05"),
				row.Action, row.Target))
		}
		if before = next; next == 0 {
			break
		}
	}
	want := []string{
		"8 live 04-01 00:00:14 credential.created target-8", "7 test 04-01 00:00:11 credential.created target-7",
		"6 test 04-01 00:00:08 credential.created target-6",
		"5 test 04-01 00:00:05 credential.created target-5", "4 test 04-01 00:00:02 credential.created target-4",
		"3 test 03-31 23:59:59 credential.created target-3",
		"2 test 03-31 23:59:56 credential.created target-2", "1 test 03-31 23:59:53 credential.created target-1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if rows, next, err := b.log.List(t.Context(), "", 0, 500); err != nil || len(rows) != 1 || next != 0 ||
		rows[0].Tenant != (org.Tenant{}) {
		t.Errorf("everybody's: %v %d %v", rows, next, err)
	}
	if rows, _, err := b.log.List(t.Context(), "nobody", 0, 0); err != nil || len(rows) != 0 {
		t.Errorf("of one without rows: %v %v", rows, err)
	}
}

func TestConcurrentAppendsFormOneChain(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 0)
	const writers, each = 12, 5
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				row := audit.Row{At: noon, ID: fmt.Sprintf("%d-%d", w, n), Tenant: tenant, Actor: "operator", Action: "x"}
				if err := b.log.Append(t.Context(), row); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	all.Wait()
	report, err := b.log.Verify(t.Context(), orgID)
	expect.NoError(t, err)
	if !report.IsIntact() || report.Rows != writers*each {
		t.Errorf("%+v, want %d rows in one chain", report, writers*each)
	}
}

// TestAppendWritesRowOnceWhenResponseIsLost checks that repeating a write doesn't add a second row.
func TestAppendWritesRowOnceWhenResponseIsLost(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	b.add(t, tenant, 2)
	if rows, _, err := b.log.List(t.Context(), orgID, 0, 10); err != nil || len(rows) != 2 {
		t.Errorf("%d rows (%v), want 2", len(rows), err)
	}
}

// lost is an audit table whose head never matches.
type lost struct{ store.Audit }

func (lost) Head(context.Context, string) (audit.Head, error) {
	return audit.Head{Seq: 1, Hash: "of yesterday"}, nil
}

func TestAppendFailsAfterRepeatedConflicts(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	log := audit.Log{Rows: lost{b.log.Rows.(store.Audit)}}
	expect.Conflict(t, "appending", log.Append(t.Context(), audit.Row{At: noon, ID: "late", Tenant: tenant}))
}

var errTrouble = errors.New("trouble on our side")

// broken is an audit table that fails every read and write.
type broken struct{}

func (broken) Head(context.Context, string) (audit.Head, error) { return audit.Head{}, errTrouble }

func (broken) Extend(context.Context, audit.Head, audit.Row) error { return errTrouble }

func (broken) After(context.Context, string, int64, int) ([]audit.Row, error) { return nil, errTrouble }

func (broken) Before(context.Context, string, int64, int) ([]audit.Row, error) {
	return nil, errTrouble
}

func (broken) Write([]byte) (int, error) { return 0, errTrouble }

func TestLogMethodsReturnReadErrors(t *testing.T) {
	t.Parallel()
	log := audit.Log{Rows: broken{}}
	_, verified := log.Verify(t.Context(), orgID)
	_, _, listed := log.List(t.Context(), orgID, 0, 1)
	_, exported := log.Export(t.Context(), orgID, &bytes.Buffer{})
	_, written := newFixture(t, 1).log.Export(t.Context(), orgID, broken{})
	appended := log.Append(t.Context(), audit.Row{At: noon, ID: "id", Tenant: tenant})
	for name, err := range map[string]error{
		"verify": verified, "list": listed, "export": exported, "write": written,
		"append": appended,
	} {
		if !errors.Is(err, errTrouble) {
			t.Errorf("%s: %v, want the trouble", name, err)
		}
	}
}
