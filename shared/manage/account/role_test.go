package account_test

import (
	"os"
	"strings"
	"testing"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

// TestRolePermissionsMatchDecisionTable compares each role's permissions with the table in ADR 36.
func TestRolePermissionsMatchDecisionTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/adr/0036-the-dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 8 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "Permission" {
			continue
		}
		permission := account.Permission(strings.TrimSpace(cells[1]))
		if permission != account.Permissions()[rows] {
			t.Fatalf("row %d of the table is %q", rows, permission)
		}
		for i, role := range account.Roles() {
			if said := strings.Contains(cells[2+i], "✓"); role.May(permission) != said {
				t.Errorf("%s may %s: %v, the decision says %v", role, permission, !said, said)
			}
		}
		rows++
	}
	if rows != len(account.Permissions()) {
		t.Errorf("the decision has %d of %d permissions", rows, len(account.Permissions()))
	}
}

func TestMayDeniesUnknownRoleAndPermission(t *testing.T) {
	t.Parallel()
	for _, role := range append(account.Roles(), "", "OWNER", "operator") {
		for _, permission := range []account.Permission{"", "erase", "*"} {
			if role.May(permission) {
				t.Errorf("%q may %q", role, permission)
			}
		}
	}
	for _, text := range []string{"", "Owner", "operator", "owner "} {
		if role, ok := account.ParseRole(text); ok {
			t.Errorf("%q is a role: %q", text, role)
		}
		if account.Role(text).May(account.View) {
			t.Errorf("%q may view", text)
		}
	}
}

func TestDeveloperRoleLacksWritePermissionsInLiveMode(t *testing.T) {
	t.Parallel()
	for _, permission := range account.Permissions() {
		for _, mode := range []org.Mode{"", org.Test, org.Live} {
			want := permission
			if permission == account.Develop && mode == org.Live {
				want = account.Operate
			}
			if got := permission.In(mode); got != want {
				t.Errorf("%s in %q mode is %s", permission, mode, got)
			}
		}
	}
}
