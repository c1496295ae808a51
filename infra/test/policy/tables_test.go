package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestTheTableOfDataNamesTablesAndIndexesOfTheTemplate(t *testing.T) {
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
		`docs/architecture.md: Old is a row of the table of data and no table of the template`,
		`docs/architecture.md: Work has the indexes "byOrg, byDue", and by its row "byOrg"`,
		`docs/architecture.md: the table of data has no row for New`,
	)
}

func TestARowThatDoesNotSayWhatItsFunctionTouchesIsFound(t *testing.T) {
	t.Parallel()
	s := resources(t, `
  WorkTable: {Type: AWS::DynamoDB::Table}
  FlowTable: {Type: AWS::DynamoDB::Table}
  SweeperFunction: {Type: AWS::Serverless::Function, Properties: {Role: !GetAtt SweeperRole.Arn}}
  SweeperRole:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Statement:
            - {Effect: Allow, Action: [a], Resource: [!GetAtt WorkTable.Arn, !Sub "${WorkTable.Arn}/index/byDue"]}
  ConnectFunction: {Type: AWS::Serverless::Function, Properties: {Role: !GetAtt ConnectRole.Arn}}
  ConnectRole:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument: {Statement: [{Effect: Allow, Action: [a], Resource: !GetAtt FlowTable.Arn}]}
        - PolicyDocument: {Statement: [{Effect: Allow, Action: [a], Resource: [!GetAtt WorkTable.Arn]}]}
  NewFunction: {Type: AWS::Serverless::Function, Properties: {Role: !GetAtt NewRole.Arn}}
  NewRole:
    Type: AWS::IAM::Role
    Properties: {Policies: [{PolicyDocument: {Statement: [{Effect: Allow, Action: [a],
      Resource: [!GetAtt FlowTable.Arn]}]}}]}
`)
	finds(t, policy.TouchedRows(s, []byte(`
| Function | Route | What it may touch |
|---|---|---|
| `+"`sweeper` | every minute | Work read (byDue) |\n| `connect`"+` | GET /Work | Flow write, Workers |
`)),
		"docs/architecture.md: the row of connect does not say that it may touch Work",
		"docs/architecture.md: the row of new does not say that it may touch Flow",
	)
	finds(t, policy.TouchedRows(s, []byte("| `sweeper` | x | Work, Flow |\n| `connect` | x | Work; Flow |\n| `new` | x "+
		"| Flow |\n")),
		"docs/architecture.md: the row of sweeper names Flow, which it may not touch")
}
