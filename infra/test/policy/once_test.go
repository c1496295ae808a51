package policy_test

import (
	"fmt"
	"testing"

	"recordbridge/infra/test/policy"
)

func TestAlarmRowsFindsAlarmWithoutExactlyOneRow(t *testing.T) {
	t.Parallel()
	s := resources(t, "  AAlarm: {Type: AWS::CloudWatch::Alarm}\n  BAlarm: {Type: AWS::CloudWatch::Alarm}\n  CAlarm: "+
		"{Type: AWS::CloudWatch::Alarm}\n")
	finds(t, policy.AlarmRows(s, []byte("| `BAlarm` | [b](runbooks/b.md) |\n\n### Alarms\n\n| `AAlarm` | "+
		"[a](runbooks/a.md) |\n"+
		"| `BAlarm`, `DAlarm` | [b](runbooks/b.md) |\n\n## Next\n\n| `CAlarm` | [c](runbooks/c.md) |\n")),
		"docs/operations.md: BAlarm has 2 rows, want one under Alarms",
		"docs/operations.md: CAlarm has 1 rows, want one under Alarms",
		"docs/operations.md: there is no alarm DAlarm",
	)
}

func TestRoomsFindsPackageThatDocDoesNotName(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"shared/a/doc.go":     "// Package a is a room.\n//\n//   - one does it.\npackage a\n",
		"shared/a/one/one.go": "package one\n", "shared/a/two/two.go": "package two\n",
		"shared/a/testdata/x.go": "package x\n",
	}
	for i := range 12 {
		texts[fmt.Sprintf("shared/b%d/doc.go", i)] = "package b\n"
	}
	finds(t, policy.Rooms(files(t, texts)), "shared/a/doc.go: does not name two", "shared: has 13 rooms, at most 12")
}

func TestDecisionsFindsMissingHeadAndNumber(t *testing.T) {
	t.Parallel()
	const form = `: want "# N. Title", an empty line, and "YYYY-MM-DD. Status: accepted."`
	finds(t, policy.Decisions(files(t, map[string]string{
		"docs/adr/README.md": "The number 3 is unused.", "docs/adr/0001-a.md": "# 1. A\n\n2026-01-02. Status: accepted.\n",
		"docs/adr/0002-b.md": "# 3. B\n\n2026-01-02. Status: accepted.\n", "docs/adr/0005-c.md": "# 5. C\n\n**Context.**\n",
		"docs/adr/0006-d.md": "# 6. D\n\n2026-01-02. Status: accepted.\n",
		"docs/adr/0006-e.md": "# 6. E\n\n2026-01-02. Status: replaced by [7](x).\n",
	})),
		"docs/adr/0002-b.md"+form, "docs/adr/0005-c.md"+form, "docs/adr/0006-e.md: the number 6 is used twice",
		"docs/adr/README.md: does not name 2 as unused", "docs/adr/README.md: does not name 4 as unused",
		"docs/adr/README.md: does not name 5 as unused",
	)
}
