package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestWildcardsCheckFindsBroadPermissions(t *testing.T) {
	t.Parallel()
	finds(t, policy.Wildcards(resources(t, `
  Files: {Type: AWS::S3::Bucket}
  Good:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Statement:
            - {Sid: Objects, Effect: Allow, Action: [s3:GetObject], Resource: [!Sub "${Files.Arn}/*"]}
            - {Sid: Folder, Effect: Allow, Action: [s3:GetObject], Resource: [!Sub "${Files.Arn}/folder/*"]}
            - {Sid: Table, Effect: Allow, Action: "dynamodb:GetItem", Resource: !GetAtt Table.Arn}
            - {Sid: Trace, Effect: Allow, Action: ["xray:PutTraceSegments", "xray:PutTelemetryRecords"],
              Resource: ["*"]}
  Bad:
    Type: AWS::IAM::Role
    Properties:
      ManagedPolicyArns: [arn:aws:iam::aws:policy/AmazonS3FullAccess]
      Policies:
        - DynamoDBCrudPolicy: {TableName: !Ref Table}
        - PolicyDocument:
            Statement:
            - {Sid: Verbs, Effect: Allow, Action: ["dynamodb:*", "s3:Get*"], Resource: [!GetAtt Table.Arn]}
            - {Sid: Things, Effect: Allow, Action: ["s3:GetObject"],
              Resource: ["*", !Sub "${Files.Arn}*", !Sub "${Files.Arn}/fol*", !Sub "${Files.Arn}/*/folder/*",
                "arn:aws:s3:::files/*"]}
            - {Sid: Indexes, Effect: Allow, Action: ["dynamodb:Query"], Resource: [!Sub "${Table.Arn}/index/*"]}
            - {Sid: Joined, Effect: Allow, Action: ["dynamodb:Query"],
              Resource: [!Join ["", [!GetAtt Table.Arn, "/index/*"]]]}
            - {Sid: Chosen, Effect: Allow, Action: ["kms:Sign"],
              Resource: [!If [Second, !GetAtt Key.Arn, "*"], !If [Second, !GetAtt Key.Arn, !Ref "AWS::NoValue"]]}
            - {Sid: Guess, Effect: Allow, Action: ["dynamodb:Get?tem"], Resource: [!Sub "${Table.Arn}?"]}
            - {Sid: Keys, Effect: Allow, Action: ["kms:Decrypt"], Resource: ["*"],
              Condition: {StringEquals: {"kms:EncryptionContext:purpose": tokens}}}
            - {Sid: Rest, Effect: Allow, NotAction: ["iam:*"], NotResource: [!GetAtt Table.Arn]}
            - {Sid: Mixed, Effect: Allow, Action: ["xray:PutTraceSegments", "xray:GetTraceSummaries"], Resource: ["*"]}
  BadFunction:
    Type: AWS::Serverless::Function
    Properties: {Policies: AWSLambdaExecute, FunctionUrlConfig: {AuthType: NONE}}
  Extra: {Type: AWS::IAM::ManagedPolicy}
  Stranger: {Type: AWS::Lambda::Permission, Properties: {Principal: "*", SourceArn: x}}
  Anyone: {Type: AWS::Lambda::Permission, Properties: {Principal: events.amazonaws.com}}
  ByRoute: {Type: AWS::Lambda::Permission, Properties: {Principal: apigateway.amazonaws.com, SourceArn: x}}
  GoodSchedule: {Type: AWS::Lambda::Permission, Properties: {Principal: events.amazonaws.com, SourceArn: x}}
  GoodKey:
    Type: AWS::KMS::Key
    Properties:
      KeyPolicy:
        Statement:
          - Sid: Root
            Effect: Allow
            Principal: {AWS: !Sub "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
            Action: kms:*
            Resource: "*"
          - Sid: Service
            Effect: Allow
            Principal: {Service: cloudwatch.amazonaws.com}
            Action: [kms:Decrypt]
            Resource: "*"
            Condition: {StringEquals: {aws:SourceAccount: !Ref "AWS::AccountId"}}
  BadKey:
    Type: AWS::KMS::Key
    Properties:
      KeyPolicy:
        Statement:
          - {Sid: World, Effect: Allow, Principal: "*", Action: kms:*, Resource: "*"}
          - {Sid: Service, Effect: Allow, Principal: {Service: cloudwatch.amazonaws.com}, Action: [kms:Decrypt],
            Resource: "*"}
          - {Sid: Others, Effect: Allow, Principal: {AWS: ["*"]}, Action: [kms:Decrypt], Resource: "*"}
  GoodBucketPolicy:
    Type: AWS::S3::BucketPolicy
    Properties:
      PolicyDocument:
        Statement: [{Sid: TlsOnly, Effect: Deny, Principal: "*", Action: s3:*, Resource: "*"}]
  BadBucketPolicy:
    Type: AWS::S3::BucketPolicy
    Properties:
      PolicyDocument:
        Statement: [{Sid: World, Effect: Allow, Principal: "*", Action: s3:*, Resource: !Sub "${Files.Arn}/*"}]
`)),
		"Anyone: gives permissions outside a role's own statements",
		"Bad: Chosen allows the resource *",
		"Bad: Guess allows the action dynamodb:Get?tem",
		"Bad: Guess allows the resource ${Table.Arn}?",
		"Bad: Indexes allows the resource ${Table.Arn}/index/*",
		"Bad: Joined allows the resource map[Fn::Join:[ [map[Fn::GetAtt:Table.Arn] /index/*]]]",
		"Bad: Keys allows the resource *",
		"Bad: Mixed allows the resource *",
		"Bad: Rest allows all but what it names (NotAction)",
		"Bad: Rest allows all but what it names (NotResource)",
		"Bad: Things allows the resource ${Files.Arn}*",
		"Bad: Things allows the resource ${Files.Arn}/*/folder/*",
		"Bad: Things allows the resource ${Files.Arn}/fol*",
		"Bad: Things allows the resource *",
		"Bad: Things allows the resource arn:aws:s3:::files/*",
		"Bad: Verbs allows the action dynamodb:*",
		"Bad: Verbs allows the action s3:Get*",
		"Bad: has a policy that is not written out: arn:aws:iam::aws:policy/AmazonS3FullAccess",
		"Bad: has a policy that is not written out: map[DynamoDBCrudPolicy:map[TableName:map[Ref:Table]]]",
		"BadBucketPolicy: World allows the action s3:*",
		"BadBucketPolicy: World lets everybody in",
		"BadFunction: has a policy that is not written out: AWSLambdaExecute",
		"BadFunction: is reached without API Gateway (FunctionUrlConfig)",
		"BadKey: Others lets everybody in",
		"BadKey: Service lets cloudwatch.amazonaws.com in for any account (aws:SourceAccount)",
		"BadKey: World allows the action kms:*",
		"BadKey: World lets everybody in",
		"ByRoute: gives permissions outside a role's own statements",
		"Extra: gives permissions outside a role's own statements",
		"Stranger: gives permissions outside a role's own statements",
	)
}

func TestOutsideTemplateCheckFindsUnknownResources(t *testing.T) {
	t.Parallel()
	finds(t, policy.OutsideTemplate(resources(t, `
  Work: {Type: AWS::DynamoDB::Table, Properties: {GlobalSecondaryIndexes: [{IndexName: byDue}]}}
  Files: {Type: AWS::S3::Bucket}
  Hashing: {Type: AWS::SecretsManager::Secret}
  Base: {Type: AWS::SSM::Parameter, Properties: {Name: !Sub "/x/${AWS::StackName}/base"}}
  F:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Statement:
            - Sid: Good
              Effect: Allow
              Action: [a]
              Resource:
                - !GetAtt Work.Arn
                - !Sub "${Work.Arn}/index/byDue"
                - !Sub "${Files.Arn}/*"
                - !Ref Hashing
                - !Sub "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/x/${AWS::StackName}/base"
            - Sid: Bad
              Effect: Allow
              Action: [a]
              Resource:
                - !GetAtt Gone.Arn
                - !Sub "${Work.Arn}/index/byOrg"
                - !Sub "${Hashing.Arn}/index/byDue"
                - arn:aws:kms:us-east-1:111122223333:key/x
                - !Sub "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/x/${AWS::StackName}/other"
`)),
		"F: Bad allows ${Gone.Arn}, which is nothing of the template",
		"F: Bad allows ${Hashing.Arn}/index/byDue, which is nothing of the template",
		"F: Bad allows ${Work.Arn}/index/byOrg, which is nothing of the template",
		"F: Bad allows arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/x/${AWS::StackName}/other, "+
			"which is nothing of the template",
		"F: Bad allows arn:aws:kms:us-east-1:111122223333:key/x, which is nothing of the template",
	)
}

func TestReservedCheckFindsUnlistedFunctions(t *testing.T) {
	t.Parallel()
	s := resources(t, `
  Tokens: {Type: AWS::DynamoDB::Table}
  Owner:
    Type: AWS::Serverless::Function
    Properties: {Environment: {Variables: {T: !Ref Tokens}}}
  Reader: {Type: AWS::Serverless::Function, Properties: {Role: !GetAtt ReaderRole.Arn}}
  ReaderRole:
    Type: AWS::IAM::Role
    Properties: {Policies: [{PolicyDocument: {Statement: [{Effect: Allow, Action: [a],
      Resource: [!Sub "${Tokens.Arn}/index/x"]}]}}]}
  Asker: {Type: AWS::Serverless::Function, Properties: {Role: !GetAtt [AskerRole, Arn]}}
  AskerRole:
    Type: AWS::IAM::Role
    Properties: {Policies: [{PolicyDocument: {Statement: [{Effect: Allow, Action: [a],
      Resource: !GetAtt [Tokens, Arn]}]}}]}
  Stranger:
    Type: AWS::Serverless::Function
    Properties: {Description: Tokens, Environment: {Variables: {T: !Ref Other}}}
`)
	finds(t, policy.Reserved(s, map[string][]string{"Tokens": {"Owner"}, "Gone": {"Owner"}}),
		"Asker: may not touch Tokens", "Gone: is not in the template", "Reader: may not touch Tokens")
}
