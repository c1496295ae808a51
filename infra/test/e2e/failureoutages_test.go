package e2e_test

import (
	"net/http"
	"time"

	"recordbridge/shared/words/ids"
)

// outageFailures returns the stages of failures of AWS services.
func outageFailures() map[string]stage {
	const throttling = "com.amazonaws.dynamodb.v20120810#ThrottlingException"
	connected := func(s *stack) string {
		s.t.Helper()
		return s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	}
	starting := func(failure awsFailure) stage {
		return func(s *stack, aws *awsFailure) {
			*aws = failure
			s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+ids.Random(), nil)
		}
	}
	disabled := awsFailure{"kms", "Decrypt", "DisabledException"}
	return map[string]stage{
		"export: AWS service failed": func(s *stack, aws *awsFailure) {
			s.org.startExport(connected(s))
			*aws = disabled
			s.clock.advance(1)
		},
		"refresh: AWS service failed": func(s *stack, aws *awsFailure) {
			connected(s)
			<-time.After(12 * 24 * time.Hour)
			*aws = disabled
			s.clock.advance(3)
		},
		"revocation: AWS service failed": func(s *stack, aws *awsFailure) {
			s.org.request(http.MethodDelete, "/bridge/org_connection/"+connected(s), nil)
			*aws = disabled
			s.clock.advance(1)
		},
		"table: request failed": func(s *stack, aws *awsFailure) {
			id := connected(s)
			*aws = awsFailure{"dynamodb", "TransactWriteItems", throttling}
			s.org.request(http.MethodPost, "/bridge/fhir/ehi-export", map[string]any{"org_connection_id": id})
		},
		"AWS: DynamoDB": func(s *stack, aws *awsFailure) {
			s.org.startExport(connected(s))
			*aws = awsFailure{"dynamodb", "Query", throttling}
			s.queues.loseMessages()
			s.clock.pass(time.Minute)
		},
		"AWS: KMS": func(s *stack, aws *awsFailure) {
			connected(s)
			*aws = disabled
			s.clock.advance(1)
		},
		"AWS: S3": func(s *stack, aws *awsFailure) {
			taskID := s.org.startExport(connected(s))
			s.clock.advance(1)
			*aws = awsFailure{"s3", "DeleteObject", noAnswer}
			s.org.deleteFiles(taskID)
			s.clock.advance(3)
		},
		"AWS: SQS": func(s *stack, aws *awsFailure) {
			s.org.startExport(connected(s))
			s.queues.loseMessages()
			*aws = awsFailure{"sqs", "SendMessage", noAnswer}
			s.clock.pass(time.Minute)
		},
		"AWS: SES": func(s *stack, aws *awsFailure) {
			s.patient.askSupport("")
			*aws = awsFailure{"ses", "SendEmail", noAnswer}
			s.clock.advance(1)
		},
		"AWS: SSM":             starting(awsFailure{"ssm", "GetParameter", noAnswer}),
		"AWS: Secrets Manager": starting(awsFailure{"secretsmanager", "GetSecretValue", noAnswer}),
	}
}
