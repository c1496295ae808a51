package audit_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/audit"
)

// chain is an audit table with rows a minute apart. Every tenth row is of a credential, and the others of webhooks.
type chain struct {
	audit.Rows

	rows int64
	read *int
}

func (c chain) Before(_ context.Context, _ string, seq int64, limit int) ([]audit.Row, error) {
	if seq == 0 {
		seq = c.rows + 1
	}
	var rows []audit.Row
	for seq--; seq > 0 && len(rows) < limit; seq-- {
		row := audit.Row{
			Seq: seq, At: noon.Add(time.Duration(seq) * time.Minute), Actor: fmt.Sprintf("member:m%d", seq%2),
			Action: "webhook.changed", Target: fmt.Sprintf("w%d", seq),
		}
		if seq%10 == 0 {
			row.Action, row.Target = "credential.changed", fmt.Sprintf("c%d rest", seq)
		}
		rows = append(rows, row)
		*c.read++
	}
	return rows, nil
}

func minutes(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

func TestSearchFiltersRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		filter audit.Filter
		want   string
	}{
		"action":           {audit.Filter{Action: "credential.changed"}, "30 20 10"},
		"action prefix":    {audit.Filter{Action: "credential."}, "30 20 10"},
		"target":           {audit.Filter{Target: "w17"}, "17"},
		"ID in target":     {audit.Filter{Target: "c20"}, "20"},
		"no target prefix": {audit.Filter{Target: "w1"}, "1"},
		"actor":            {audit.Filter{Actor: "member:m1", Action: "credential."}, ""},
		"time":             {audit.Filter{From: minutes(3), To: minutes(6)}, "5 4 3"},
		"combined":         {audit.Filter{From: minutes(9), To: minutes(12), Actor: "member:m0"}, "10"},
	} {
		rows, next, err := audit.Log{Rows: chain{rows: 30, read: new(int)}}.Search(t.Context(), orgID, c.filter, 0, 50)
		expect.NoError(t, err)
		seqs := make([]string, len(rows))
		for i, row := range rows {
			seqs[i] = strconv.FormatInt(row.Seq, 10)
		}
		if got := strings.Join(seqs, " "); got != c.want || next != 0 {
			t.Errorf("%s: rows %q and next %d, want %q", name, got, next, c.want)
		}
	}
}

func TestSearchReadsAtMost500RowsPerPage(t *testing.T) {
	t.Parallel()
	read := 0
	log := audit.Log{Rows: chain{rows: 1200, read: &read}}
	rows, next, err := log.Search(t.Context(), orgID, audit.Filter{Target: "w7"}, 0, 50)
	if err != nil || len(rows) != 0 || next != 701 || read != 500 {
		t.Errorf("first page: %v, next %d, %v after %d reads", rows, next, err, read)
	}
	rows, next, err = log.Search(t.Context(), orgID, audit.Filter{Target: "w7"}, 201, 50)
	if err != nil || len(rows) != 1 || next != 0 {
		t.Errorf("last page: %v, next %d, %v", rows, next, err)
	}
}

func TestSearchContinuesAfterFullPage(t *testing.T) {
	t.Parallel()
	read := 0
	log := audit.Log{Rows: chain{rows: 100, read: &read}}
	var got []int64
	for before, pages := int64(0), 0; pages < 9; pages++ {
		rows, next, err := log.Search(t.Context(), orgID, audit.Filter{Action: "credential."}, before, 4)
		expect.NoError(t, err)
		for _, row := range rows {
			got = append(got, row.Seq)
		}
		if before = next; next == 0 {
			break
		}
	}
	if want := "[100 90 80 70 60 50 40 30 20 10]"; fmt.Sprint(got) != want {
		t.Errorf("rows %v, want %s", got, want)
	}
	read = 0
	rows, next, err := log.Search(t.Context(), orgID, audit.Filter{}, 0, 4)
	if err != nil || len(rows) != 4 || next != 97 || read != 4 {
		t.Errorf("without a filter: %d rows, next %d, %v after %d reads", len(rows), next, err, read)
	}
}

// TestSearchStopsBeforeFrom checks that a search for recent rows does not read the whole chain. Rows appended
// concurrently can be out of order by a few minutes.
func TestSearchStopsBeforeFrom(t *testing.T) {
	t.Parallel()
	read := 0
	log := audit.Log{Rows: chain{rows: 1200, read: &read}}
	rows, next, err := log.Search(t.Context(), orgID, audit.Filter{From: minutes(1191), Action: "credential."}, 0, 50)
	if err != nil || len(rows) != 1 || next != 0 || read != 100 {
		t.Errorf("%v, next %d, %v after %d reads", rows, next, err, read)
	}
}

func TestSearchReturnsReadErrors(t *testing.T) {
	t.Parallel()
	if _, _, err := (audit.Log{Rows: broken{}}).Search(t.Context(), orgID, audit.Filter{}, 0, 1); err == nil {
		t.Error("no error")
	}
}
