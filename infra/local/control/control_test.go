package control_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/control"
	"recordbridge/infra/local/triggers"
)

const queueARN = "arn:aws:sqs:us-east-1:000000000000:local-WorkQueue"

type mappings struct{ enabled bool }

func (m *mappings) Mappings() []triggers.Mapping {
	return []triggers.Mapping{{Function: "WorkerFunction", QueueARN: queueARN, BatchSize: 5, Enabled: m.enabled}}
}

func (m *mappings) Enable(_, _ string, enabled bool) bool {
	m.enabled = enabled
	return true
}

type code struct{ replaced map[string]string }

func (c code) Replace(function, bootstrap string) bool {
	c.replaced[function] = bootstrap
	return true
}

// ask sends a request to a service, and returns the status and the response.
func ask(t *testing.T, service wire.Service, method, path, body string) (status int, answer string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if strings.HasPrefix(body, "Action=") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	service.Serve(w, r, wire.Call{Operation: service.Operation(r)})
	return w.Code, w.Body.String()
}

// step is a request and the status and a part of the response that it must have.
type step struct {
	method, path, body string
	status             int
	want               string
}

func check(t *testing.T, service wire.Service, steps []step) {
	t.Helper()
	for _, s := range steps {
		status, answer := ask(t, service, s.method, s.path, s.body)
		if status != s.status || !strings.Contains(answer, s.want) {
			t.Errorf("%s %s %s: %d %s, want %d with %s", s.method, s.path, s.body, status, answer, s.status, s.want)
		}
	}
}

func TestLambdaChangesMappings(t *testing.T) {
	t.Parallel()
	const path = "/2015-03-31/event-source-mappings/"
	m := &mappings{enabled: true}
	l := &control.Lambda{Stack: "local", Mappings: m}
	_, listed := ask(t, l, http.MethodGet, path+"?FunctionName=local-WorkerFunction%3Alive", "")
	_, id, _ := strings.Cut(listed, `"UUID":"`)
	id, _, _ = strings.Cut(id, `"`)
	check(t, l, []step{
		{
			http.MethodGet, path, "",
			200, `"FunctionArn":"arn:aws:lambda:us-east-1:000000000000:function:local-WorkerFunction:live"`,
		},
		{http.MethodGet, path + "?FunctionName=local-WorkerFunction", "", 200, `"EventSourceMappings":[]`},
		{http.MethodGet, path + "?MaxItems=1", "", 400, "MaxItems"},
		{http.MethodPut, path + id, `{"Enabled":false}`, 200, `"State":"Disabling"`},
		{http.MethodGet, path, "", 200, `"State":"Disabled"`},
		{http.MethodPut, path + id, `{"Enabled":true}`, 200, `"State":"Enabling"`},
		{http.MethodPut, path + id, `{"BatchSize":1}`, 400, "BatchSize"},
		{http.MethodPut, path + "11111111-1111-1111-1111-111111111111", `{"Enabled":true}`, 404, "does not exist"},
		{http.MethodDelete, path + id, "", 400, "not part of the embedded AWS"},
	})
	if !m.enabled {
		t.Error("the mapping is disabled")
	}
}

func TestLambdaMovesAliasBetweenVersions(t *testing.T) {
	t.Parallel()
	const path = "/2015-03-31/functions/local-EchoFunction"
	runs := code{map[string]string{}}
	l := &control.Lambda{
		Stack: "local", Mappings: &mappings{},
		Versions: control.NewVersions(t.TempDir(), runs, map[string]string{"EchoFunction": "first"}),
	}
	var archive bytes.Buffer
	files := zip.NewWriter(&archive)
	file, err := files.Create("bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = file.Write([]byte("second")); err != nil {
		t.Fatal(err)
	}
	if err = files.Close(); err != nil {
		t.Fatal(err)
	}
	zipped := base64.StdEncoding.EncodeToString(archive.Bytes())
	check(t, l, []step{
		{http.MethodPut, path + "/code", `{"ZipFile":"` + zipped + `"}`, 400, "isn't published"},
		{http.MethodPut, path + "/code", `{"ZipFile":"bm8gemlw","Publish":true}`, 400, "Could not unzip"},
		{http.MethodPut, path + "/code", `{"ZipFile":"` + zipped + `","Publish":true}`, 200, `"Version":"2"`},
		{http.MethodGet, path + "/aliases/live", "", 200, `"FunctionVersion":"1"`},
		{http.MethodPut, path + "/aliases/live", `{"FunctionVersion":"3"}`, 404, "Function not found"},
		{http.MethodPut, path + "/aliases/other", `{"FunctionVersion":"2"}`, 404, "Cannot find alias"},
		{http.MethodPut, path + "/aliases/live", `{"FunctionVersion":"2"}`, 200, `"FunctionVersion":"2"`},
		{http.MethodGet, path + "/versions", "", 200, `"Version":"$LATEST"`},
		{http.MethodGet, "/2015-03-31/functions/local-NoFunction/versions", "", 404, "Function not found"},
	})
	if text, err := os.ReadFile(runs.replaced["EchoFunction"]); err != nil || string(text) != "second" {
		t.Errorf("the function runs %q, %v", text, err)
	}
	check(t, l, []step{{http.MethodPut, path + "/aliases/live", `{"FunctionVersion":"1"}`, 200, `"FunctionVersion":"1"`}})
	if got := runs.replaced["EchoFunction"]; got != "first" {
		t.Errorf("the function runs %q, want the first version", got)
	}
}

func TestCloudFormationDescribesStack(t *testing.T) {
	t.Parallel()
	c := &control.CloudFormation{Stack: control.Stack{
		Name: "local", ID: "arn", Outputs: map[string]string{"BaseUrl": "http://127.0.0.1/v1"},
		Resources: map[string]control.Resource{
			"WorkQueue": {Type: "AWS::SQS::Queue", Physical: func(context.Context) (string, error) {
				return "http://queue", nil
			}},
		},
	}}
	const post = http.MethodPost
	check(t, c, []step{
		{
			post, "/", "Action=DescribeStacks&StackName=local",
			200, "<OutputKey>BaseUrl</OutputKey><OutputValue>http://127.0.0.1/v1",
		},
		{
			post, "/", "Action=DescribeStacks&StackName=other",
			400, "<Code>ValidationError</Code><Message>Stack with id other does not",
		},
		{
			post, "/", "Action=DescribeStackResource&StackName=local&LogicalResourceId=WorkQueue",
			200, "<PhysicalResourceId>http://queue",
		},
		{
			post, "/", "Action=DescribeStackResource&StackName=local&LogicalResourceId=Nothing",
			400, "Resource Nothing does not exist",
		},
		{post, "/", "Action=DeleteStack&StackName=local", 400, "InvalidAction"},
	})
}
