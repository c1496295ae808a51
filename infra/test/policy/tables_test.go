package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestTheTableOfDataNamesTablesAndIndexesOfTheTemplate(t *testing.T) {
	t.Parallel()
	s := resources(t, `
  WorkTable: {Type: AWS::DynamoDB::Table, Properties: {GlobalSecondaryIndexes: [{IndexName: byOrg}, {IndexName: byDue}]}}
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
		`docs/architecture.md: Old is a row of the table of data and no table of the template`,
		`docs/architecture.md: Work has the indexes "byOrg, byDue", and by its row "byOrg"`,
		`docs/architecture.md: the table of data has no row for New`,
	)
}
