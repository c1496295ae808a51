package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

func TestAlarmRowsCheckFindsMissingDuplicateAndContradictoryRows(t *testing.T) {
	t.Parallel()
	var section strings.Builder
	for id, described := range map[string]string{
		"AAlarm": "Page: It failed. Runbook docs/operate/runbooks/a.md",
		"BAlarm": "Page: It failed. Runbook docs/operate/runbooks/b.md",
		"CAlarm": "Page: It failed. Runbook docs/operate/runbooks/c.md",
		"EAlarm": "Page: It failed. Runbook docs/operate/runbooks/a.md",
		"FAlarm": "Ticket: It failed. Runbook docs/operate/runbooks/a.md",
	} {
		fmt.Fprintf(&section, "  %s: {Type: AWS::CloudWatch::Alarm, Properties: {AlarmDescription: %q}}\n", id, described)
	}
	const document = "# Alarms\n\n| Page | Runbook |\n|---|---|\n| `AAlarm`, `BAlarm` | [a](runbooks/a.md) |\n" +
		"| `BAlarm`, `DAlarm` | [b](runbooks/b.md) |\n\n| Ticket | Runbook |\n|---|---|\n" +
		"| `EAlarm` | [a](runbooks/a.md) |\n| `FAlarm` | [b](runbooks/b.md) |\n"
	const differs = ", which differs from its row"
	finds(t, policy.AlarmRows(resources(t, section.String()), []byte(document)),
		"docs/operate/alarms.md: BAlarm has 2 rows, want one",
		"docs/operate/alarms.md: CAlarm has 0 rows, want one",
		`docs/operate/alarms.md: EAlarm is described by "Page: It failed. Runbook docs/operate/runbooks/a.md"`+differs,
		`docs/operate/alarms.md: FAlarm is described by "Ticket: It failed. Runbook docs/operate/runbooks/a.md"`+differs,
		"docs/operate/alarms.md: there is no alarm DAlarm",
	)
}

func TestRoomsCheckFindsUndocumentedPackage(t *testing.T) {
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

func TestVersionCheckFindsOutdatedChangelog(t *testing.T) {
	t.Parallel()
	changelog := []byte("## [Unreleased]\n\n## [0.2.0] - 2026-01-02\n\n## [0.1.0] - 2026-01-01\n")
	finds(t, policy.Version([]byte("0.2.0\n"), changelog))
	finds(t, policy.Version([]byte("v0.1\n"), changelog), ".version: want one line of the form 1.2.3",
		"CHANGELOG.md: the newest release is not v0.1, the version of .version")
}

func TestDecisionsCheckFindsMissingHeaderAndNumber(t *testing.T) {
	t.Parallel()
	const form = `: want "# N. Title", an empty line, and "YYYY-MM-DD. Status: accepted."`
	finds(t, policy.Decisions(files(t, map[string]string{
		"docs/adr/README.md": "- [1. A](0001-a.md): 2 or 4\n- [6. E](0006-e.md): e\n\nThe number 3 is unused.",
		"docs/adr/0001-a.md": "# 1. A\n\n2026-01-02. Status: accepted.\n",
		"docs/adr/0002-b.md": "# 3. B\n\n2026-01-02. Status: accepted.\n", "docs/adr/0005-c.md": "# 5. C\n\n**Context.**\n",
		"docs/adr/0006-d.md": "# 6. D\n\n2026-01-02. Status: accepted.\n",
		"docs/adr/0006-e.md": "# 6. E\n\n2026-01-02. Status: replaced by [7](x).\n",
	})),
		"docs/adr/0002-b.md"+form, "docs/adr/0005-c.md"+form, "docs/adr/0006-e.md: the number 6 is used twice",
		"docs/adr/README.md: does not list 0006-d.md", "docs/adr/README.md: does not name 2 as unused",
		"docs/adr/README.md: does not name 4 as unused", "docs/adr/README.md: does not name 5 as unused",
	)
}

func TestTableRowsCheckFindsMismatchBetweenCodeAndTemplate(t *testing.T) {
	t.Parallel()
	s := resources(t, `
  WorkTable: {Type: AWS::DynamoDB::Table,
    Properties: {GlobalSecondaryIndexes: [{IndexName: byOrg}, {IndexName: byDue}]}}
  FlowTable: {Type: AWS::DynamoDB::Table}
  SandboxTable: {Type: AWS::DynamoDB::Table}
  NewTable: {Type: AWS::DynamoDB::Table}
`)
	finds(t, policy.TableRows(s, []byte(`
| Function | Rows | Indexes | Kept |
|---|---|---|---|
| connect | x | | y |

| Table | Rows (partition / sort) | Indexes | Kept |
|---|---|---|---|
| Work | TASK with free\|paid | byOrg | 90 days |
| Flow | STATE | | TTL |
| Sandbox (test mode) | x | | TTL |
| Old | x | | TTL |
`)),
		`docs/develop/architecture.md: Old is a row of the table of data and no table of the template`,
		`docs/develop/architecture.md: Work has the indexes "byOrg, byDue", and by its row "byOrg"`,
		`docs/develop/architecture.md: the table of data has no row for New`,
	)
}

func TestInstallsCheckFindsUnpinnedPackages(t *testing.T) {
	t.Parallel()
	finds(t, policy.Installs(files(t, map[string]string{
		"Makefile":       "ui:\n\t@cd ui && { [ -e x ] || npm ci --no-audit; } && node build.mjs\n\t@npx playwright test\n",
		".ci/latest":     "go install example.org/tool@latest\ncurl -s https://example.org/x | bash\n",
		".ci/npm":        "npm install --silent \\\n\t--prefix x y@1\n",
		".ci/pip":        "\"$folder/bin/pip\" install --quiet \"x==1\"\n",
		".ci/jars":       "mvn --file pom.xml copy\n",
		"infra/a/npm.go": "package a\n\nfunc f() { exec.Command(\"npm\", \"ci\", \"--no-audit\") }\n",
		".ci/good": "# npm install x\nnpm ci --silent --ignore-scripts --prefix x\nnpx --no playwright test\npip " +
			"install --require-hashes --only-binary :all: --requirement x\ngo install a/b@v1.2.3\ngo install \"a/b@$B\"\n",
		".ci/good-jars": "mvn --file pom.xml copy\nsha256sum --check x\n",
		"infra/a/good.go": "package a\n\n// npm install x\nfunc g() { exec.Command(\"npm\", \"ci\", " +
			"\"--ignore-scripts\") }\n",
		"infra/a/a_test.go": "package a\n\nfunc h() { exec.Command(\"npm\", \"ci\") }\n",
	})),
		".ci/jars: installs without hashes: check them by sha256sum --check",
		".ci/latest: installs no fixed version",
		".ci/latest: runs what it downloads",
		".ci/npm: installs without a lock: use npm ci",
		".ci/pip: builds packages with tools that have no hashes: add --only-binary :all:",
		".ci/pip: installs without hashes: add --require-hashes",
		"Makefile: installs what is not there: use npx --no",
		"Makefile: runs the scripts of packages: add --ignore-scripts",
		"infra/a/npm.go: runs the scripts of packages: add --ignore-scripts",
	)
}
