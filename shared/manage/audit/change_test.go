package audit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/audit"
)

// append adds a row with changes from the given source, and returns the row as stored.
func (b fixture) append(t *testing.T, source string, changes ...audit.Change) audit.Row {
	t.Helper()
	expect.NoError(t, b.log.Append(audit.WithSource(t.Context(), source), audit.Row{
		At: noon, ID: "1", Tenant: tenant, Actor: "member:m1", Action: "webhook.changed", Target: "w1", Changes: changes,
	}))
	rows, _, err := b.log.List(t.Context(), orgID, 0, 1)
	expect.NoError(t, err)
	return rows[0]
}

// TestHashCoversChangesAndSource checks the hashed text of a row with changes and a source, which must never change
// (docs/operate/audit.md). The expected hash was computed with Python's json and hashlib modules.
func TestHashCoversChangesAndSource(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 0)
	changes := []audit.Change{{Field: "note", New: `a<b>&"é"`, Old: ""}, {Field: "rate", New: "", Old: "5"}}
	row := b.append(t, "203.0.113.0/24", changes...)
	if diff := cmp.Diff(changes, row.Changes); diff != "" || row.From != "203.0.113.0/24" {
		t.Errorf("row from %q with changes (-want +got):\n%s", row.From, diff)
	}
	if want := "7010e12053d14e32b28a560f60630e338f7990d3a798a069ddd223a337f9d6a0"; row.Hash != want {
		t.Errorf("hash %s, want %s", row.Hash, want)
	}
	var file bytes.Buffer
	_, err := b.log.Export(t.Context(), orgID, &file)
	expect.NoError(t, err)
	report, err := audit.VerifyExport(bytes.NewReader(file.Bytes()))
	expect.NoError(t, err)
	if !report.IsIntact() || len(b.verify(t)) > 0 {
		t.Errorf("the export %s: %+v", file.String(), report)
	}
	forged := strings.Replace(file.String(), `"old":"5"`, `"old":"6"`, 1)
	report, err = audit.VerifyExport(strings.NewReader(forged))
	expect.NoError(t, err)
	if diff := cmp.Diff([]audit.Break{{Seq: 1, What: audit.Changed}}, report.Breaks); diff != "" {
		t.Errorf("found in the forged export (-want +got):\n%s", diff)
	}
}

func TestVerifyDetectsTamperedChangesAndSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ attribute, value string }{
		{"changes", `[{"field":"rate","new":"7","old":"5"}]`}, {"changes", "damaged"}, {"from", "198.51.100.0/24"},
	} {
		b := newFixture(t, 0)
		b.append(t, "ctl", audit.Change{Field: "rate", New: "6", Old: "5"})
		row := b.read(t, rowAt(1))
		row[c.attribute] = textOf(c.value)
		b.put(t, rowAt(1), row)
		if diff := cmp.Diff([]audit.Break{{Seq: 1, What: audit.Changed}}, b.verify(t)); diff != "" {
			t.Errorf("%s = %q (-want +got):\n%s", c.attribute, c.value, diff)
		}
	}
}

func TestAppendBoundsChanges(t *testing.T) {
	t.Parallel()
	many := make([]audit.Change, 30)
	for i := range many {
		many[i] = audit.Change{Field: fmt.Sprintf("f%d", i), New: strings.Repeat("é", 201), Old: "a\tb"}
	}
	got := newFixture(t, 0).append(t, "", many...).Changes
	if len(got) != 25 || got[24] != (audit.Change{Field: "more", New: "6", Old: ""}) {
		t.Fatalf("%d changes, the last is %+v", len(got), got[len(got)-1])
	}
	if want := (audit.Change{Field: "f23", New: strings.Repeat("é", 199) + "…", Old: "a b"}); got[23] != want {
		t.Errorf("change %+v, want %+v", got[23], want)
	}
	if all := newFixture(t, 0).append(t, "", many[:25]...).Changes; len(all) != 25 || all[24].Field != "f24" {
		t.Errorf("of 25 changes, %d are kept, the last is %s", len(all), all[len(all)-1].Field)
	}
}
