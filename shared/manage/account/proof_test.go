package account_test

import (
	"os"
	"strings"
	"testing"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

// TestNeedsProofMatchesDecisionTable compares NeedsProof with the table of actions in ADR 36.
func TestNeedsProofMatchesDecisionTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/adr/0036-the-dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| Action | test | live | no mode | What |\n|---|---|---|---|---|\n")
	if !found {
		t.Fatal("the decision has no table of actions")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	if len(rows) != len(account.Actions()) {
		t.Fatalf("the decision has %d of %d actions", len(rows), len(account.Actions()))
	}
	for i, action := range account.Actions() {
		cells := strings.Split(rows[i], "|")
		if strings.TrimSpace(cells[1]) != string(action) {
			t.Fatalf("row %d of the table is %q, want %s", i, cells[1], action)
		}
		for j, mode := range []org.Mode{org.Test, org.Live, ""} {
			if said := strings.Contains(cells[2+j], "proof"); action.NeedsProof(mode) != said {
				t.Errorf("%s in mode %q needs a proof: %v, the decision says %v", action, mode, !said, said)
			}
		}
	}
}

func TestNeedsProofReturnsTrueForUnknownAction(t *testing.T) {
	t.Parallel()
	for _, action := range []account.Action{"", "CREATE_KEY", "leave"} {
		for _, mode := range []org.Mode{"", org.Test, org.Live, "other"} {
			if !action.NeedsProof(mode) {
				t.Errorf("%q in mode %q needs no proof", action, mode)
			}
		}
	}
}
