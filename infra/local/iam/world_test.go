package iam_test

import (
	"context"
	"errors"
	nethttp "net/http"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
)

const (
	worker = "WorkerFunction"
	here   = ":us-east-1:000000000000:"

	visitsARN = "arn:aws:dynamodb" + here + "table/visits"
	notesARN  = "arn:aws:dynamodb" + here + "table/notes"
	jobsARN   = "arn:aws:sqs" + here + "jobs"
	deadARN   = "arn:aws:sqs" + here + "dead"
	jobsURL   = "http://127.0.0.1:4566/000000000000/jobs"
	deadURL   = "http://127.0.0.1:4566/000000000000/dead"
	plainARN  = "arn:aws:s3:::plain"
	sealedARN = "arn:aws:s3:::sealed"
	filesKey  = "arn:aws:kms" + here + "alias/files"
	secretARN = "arn:aws:secretsmanager" + here + "secret:hashing"
	paramARN  = "arn:aws:ssm" + here + "parameter/recordbridge/base-url"
)

// world returns a template whose worker function has the given statements. The template also has two tables, two
// queues, a bucket with a KMS key, a bucket without a key, a secret and a parameter.
func world(statements ...template.Statement) *template.Template {
	key := template.KeySchema{Hash: "pk", Range: "sk"}
	attributes := map[string]string{"pk": "S", "sk": "S", "org": "S"}
	byOrg := template.Index{Name: "byOrg", Key: template.KeySchema{Hash: "org", Range: "sk"}, Projection: "ALL"}
	return &template.Template{
		Functions: []template.Function{
			{LogicalID: "IdleFunction"},
			{LogicalID: worker, Statements: statements},
		},
		Tables: []template.Table{
			{
				LogicalID: "Visits", Name: "visits", ARN: visitsARN, Attributes: attributes, Key: key,
				Indexes: []template.Index{byOrg},
			},
			{LogicalID: "Notes", Name: "notes", ARN: notesARN, Attributes: map[string]string{"pk": "S", "sk": "S"}, Key: key},
		},
		Queues: []template.Queue{
			{LogicalID: "Dead", Name: "dead", URL: deadURL, ARN: deadARN},
			{LogicalID: "Jobs", Name: "jobs", URL: jobsURL, ARN: jobsARN, Attributes: map[string]string{
				"RedrivePolicy": `{"deadLetterTargetArn":"` + deadARN + `","maxReceiveCount":1}`,
			}},
		},
		Buckets: []template.Bucket{
			{LogicalID: "Plain", Name: "plain", ARN: plainARN},
			{LogicalID: "Sealed", Name: "sealed", ARN: sealedARN, KeyARN: filesKey},
		},
		Keys: []template.Key{
			{LogicalID: "Files", Alias: "alias/files", ARN: filesKey},
			{LogicalID: "Other", Alias: "alias/other"},
		},
		Secrets:    []template.Secret{{LogicalID: "Hashing", Name: "hashing", ARN: secretARN, Length: 20}},
		Parameters: []template.Parameter{{LogicalID: "BaseURL", Name: "/recordbridge/base-url", Value: "http://127.0.0.1"}},
	}
}

// start returns a cloud that has the template's resources and enforces its policy statements.
func start(t *testing.T, declared *template.Template) (*aws.Cloud, *iam.Authority) {
	t.Helper()
	authority, err := iam.New(declared)
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := aws.New(aws.Options{Middleware: []wire.Middleware{authority.Middleware()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cloud.Close() })
	if err := provision.Apply(t.Context(), cloud.Config("provision"), declared); err != nil {
		t.Fatal(err)
	}
	return cloud, authority
}

func allow(action string, resources ...string) template.Statement {
	return template.Statement{Sid: action, Actions: []string{action}, Resources: resources}
}

type step func(ctx context.Context, cfg awssdk.Config) error

func wantAllowed(t *testing.T, cloud *aws.Cloud, do step) {
	t.Helper()
	if err := do(t.Context(), cloud.Config(worker)); err != nil {
		t.Errorf("refused: %v", err)
	}
}

// wantDenied checks that a call is denied for action on resource, and that the error has AWS's message.
func wantDenied(t *testing.T, cloud *aws.Cloud, authority *iam.Authority, do step, action, resource string) {
	t.Helper()
	err := do(t.Context(), cloud.Config(worker))
	failure, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		t.Fatalf("got %v, want the refusal of %s", err, action)
	}
	service, _, _ := strings.Cut(action, ":")
	status := map[string]int{"s3": 403, "sqs": 403, "ses": 403}[service]
	response, ok := errors.AsType[*http.ResponseError](err)
	if want := max(status, nethttp.StatusBadRequest); !ok || service != "kms" && response.HTTPStatusCode() != want {
		t.Errorf("got %v, want status %d", err, want)
	}
	said := failure.ErrorMessage()
	switch failure.ErrorCode() {
	case "AccessDenied", "AccessDeniedException":
		if !strings.Contains(strings.ToLower(said),
			strings.ToLower("assumed-role/"+worker+" is not authorized to perform: "+action+" on resource: ")) ||
			!strings.Contains(said, resource) {
			t.Errorf("got %q, want %s on %s", said, action, resource)
		}
	case "Forbidden": // a HEAD response has no body, so the SDK uses the status
	default:
		t.Errorf("got %v, want the refusal of %s", err, action)
	}
	want := iam.Denial{Function: worker, Action: action, Resource: resource}
	if got := authority.Denials(); !slices.Contains(got, want) {
		t.Errorf("got the record %v, want %v in it", got, want)
	}
}
