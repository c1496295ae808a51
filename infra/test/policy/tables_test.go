package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestTablesThatAreNotKeptAsTheirClassAreFound(t *testing.T) {
	t.Parallel()
	const good = `
  Work:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: RetainExceptOnCreate
    UpdateReplacePolicy: Retain
    Properties:
      SSESpecification: {SSEEnabled: true}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 7}
      DeletionProtectionEnabled: true
  Flow:
    Type: AWS::DynamoDB::Table
    Properties: {SSESpecification: {SSEEnabled: true}, TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}}
`
	rule := func(s *policy.Stack) []policy.Finding {
		return policy.Tables(s, map[string]policy.TableClass{
			"Work": {Lasting: true, RecoveryDays: 7}, "Flow": {Expires: true},
		})
	}
	goes := []string{"Work: goes with the stack or a replacement: DeletionPolicy is not RetainExceptOnCreate or UpdateReplacePolicy not Retain"}
	judge(t, good, rule, map[string]example{
		"plain":       {"SSEEnabled: true", "SSEEnabled: false", []string{"Work: is not encrypted with a key of KMS"}},
		"lossy":       {"RecoveryEnabled: true", "RecoveryEnabled: false", []string{"Work: has no point-in-time recovery"}},
		"unprotected": {"DeletionProtectionEnabled: true", "", []string{"Work: is not protected against deletion"}},
		"deleted":     {"    DeletionPolicy: RetainExceptOnCreate\n", "    DeletionPolicy: Retain\n", goes},
		"replaced":    {"UpdateReplacePolicy: Retain", "UpdateReplacePolicy: Delete", goes},
		"long memory": {
			", RecoveryPeriodInDays: 7", "",
			[]string{"Work: can be restored for 0 days, and by its class for 7 (0 is the default of 35)"},
		},
		"endless": {"ttl, Enabled: true", "ttl, Enabled: false", []string{"Flow: rows expire: false, and by its class true"}},
		"ending": {
			"      DeletionProtectionEnabled: true", "      DeletionProtectionEnabled: true\n      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}",
			[]string{"Work: rows expire: true, and by its class false"},
		},
		"newer": {"  Flow:", "  Other:", []string{"Flow: is not in the template", "Other: has no class: how are its rows kept?"}},
	})
}

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

func TestChangesOfATableThatIsOnlyAddedToAreFound(t *testing.T) {
	t.Parallel()
	finds(t, policy.AppendOnly(resources(t, `
  Good:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Statement:
            - {Sid: Add, Effect: Allow, Action: [dynamodb:PutItem, dynamodb:Query], Resource: [!GetAtt Audit.Arn]}
            - {Sid: Work, Effect: Allow, Action: [dynamodb:DeleteItem], Resource: [!GetAtt Work.Arn]}
  Bad:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Statement:
            - {Sid: Mend, Effect: Allow, Action: [dynamodb:PutItem, dynamodb:UpdateItem], Resource: [!GetAtt Work.Arn, !GetAtt Audit.Arn]}
            - {Sid: Tidy, Effect: Allow, Action: dynamodb:DeleteItem, Resource: !Sub "${Audit.Arn}"}
`), "Audit"),
		"Bad: Mend allows dynamodb:UpdateItem on Audit, which is only added to",
		"Bad: Tidy allows dynamodb:DeleteItem on Audit, which is only added to",
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
    Properties: {Policies: [{PolicyDocument: {Statement: [{Effect: Allow, Action: [a], Resource: [!GetAtt FlowTable.Arn]}]}}]}
`)
	finds(t, policy.TouchedRows(s, []byte(`
| Function | Route | What it may touch |
|---|---|---|
| `+"`sweeper` | every minute | Work read (byDue) |\n| `connect`"+` | GET /Work | Flow write, Workers |
`)),
		"docs/architecture.md: the row of connect does not say that it may touch Work",
		"docs/architecture.md: the row of new does not say that it may touch Flow",
	)
	finds(t, policy.TouchedRows(s, []byte("| `sweeper` | x | Work, Flow |\n| `connect` | x | Work; Flow |\n| `new` | x | Flow |\n")),
		"docs/architecture.md: the row of sweeper names Flow, which it may not touch")
}
