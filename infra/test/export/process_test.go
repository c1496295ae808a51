package exporttest_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/lambda"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

const (
	workerFunction = "ExportWorkerFunction"
	// hostilePath is the URL path prefix of a test case's FHIR server.
	hostilePath = "/hostile/"
	awsSecret   = "test"
)

// workerBinary builds the export worker once, with the production build's flags.
var workerBinary = sync.OnceValues(func() (string, error) {
	file, err := filepath.Abs("../../../build/exportworker-under-test")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-gcflags", "all=-dwarf=false", "-ldflags", "-s -w", "-tags",
		"lambda.norpc,grpcnotrace", "-o", file, "./functions/exportworker/bootstrap")
	build.Dir, build.Stderr, build.Env = "../../..", os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	return file, build.Run()
})

// processWorld runs the production export worker in a separate process. The test process serves the embedded AWS and
// the test's FHIR server on one port.
type processWorld struct {
	cloud     *aws.Cloud
	work      store.Register
	functions *lambda.Subprocesses
	hostile   http.Handler
	address   string
	workTable string

	mu    sync.Mutex
	peak  int64 // peak memory of the worker process in bytes
	lines []string
}

// newProcessWorld returns a processWorld whose invocations have the given timeout. A timeout of 0 selects the timeout
// in template.yaml.
func newProcessWorld(t *testing.T, timeout time.Duration) *processWorld {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	file, err := workerBinary()
	expect.NoError(t, err)
	y := &processWorld{}
	server := httptest.NewServer(y)
	t.Cleanup(server.Close)
	y.address = server.Listener.Addr().String()
	loaded, err := template.Load("../../../template.yaml", template.Options{
		Parameters: map[string]string{"PublicBaseUrl": server.URL + "/v1", "AllowedPrivateRanges": "127.0.0.0/8"},
		BaseURL:    server.URL, StackName: "test",
	})
	expect.NoError(t, err)
	y.cloud, err = aws.New(aws.Options{URL: server.URL, SecretKey: awsSecret})
	expect.NoError(t, err)
	expect.NoError(t, provision.Apply(t.Context(), y.cloud.Config("provision"), loaded))
	for _, f := range loaded.Functions {
		if f.LogicalID == workerFunction {
			f.Timeout = cmp.Or(timeout, f.Timeout)
			y.start(t, f, file)
			y.connect(t, f)
		}
	}
	return y
}

func (y *processWorld) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, lambda.Prefix):
		y.functions.ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, hostilePath):
		y.hostile.ServeHTTP(w, r)
	default:
		y.cloud.ServeHTTP(w, r)
	}
}

// start registers the worker's function. The first invocation starts the worker's process.
func (y *processWorld) start(t *testing.T, f template.Function, file string) {
	t.Helper()
	y.functions = lambda.New(lambda.Options{
		Address: y.address, Region: "us-east-1", Account: "000000000000", SecretKey: awsSecret, Observer: watch{y},
		Line: func(_, line string) {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.lines = append(y.lines, line)
		},
		Functions: []lambda.Function{{
			ID: f.LogicalID, Name: f.Name, Bootstrap: file, Environment: f.Environment, Timeout: f.Timeout, MemoryMB: f.MemoryMB,
		}},
	})
	t.Cleanup(y.functions.Close)
}

// connect stores a connection with long-lived tokens, as the callback function would.
func (y *processWorld) connect(t *testing.T, f template.Function) {
	t.Helper()
	rows := dynamodb.NewFromConfig(y.cloud.Config("test"))
	y.workTable = f.Environment["WORK_TABLE"]
	y.work = store.NewRegister(
		store.Work{DB: rows, Table: f.Environment["WORK_TABLE"]},
		store.Connections{DB: rows, Table: f.Environment["CONNECTION_TABLE"]},
	)
	vault := tokens.Vault{
		Sealer: kms.New(awskms.NewFromConfig(y.cloud.Config("test")), kms.TokensKey(f.Environment["TOKENS_KEY"]),
			tokens.Purpose, time.Now),
	}
	sealed, err := vault.Seal(t.Context(), tenant, connectionID, 1, tokens.Set{
		AccessToken: secret.New("access"), PatientID: secret.New("p1"),
		Scope:    wideScope + " " + strings.Repeat("<", 12<<10-len(wideScope)-1),
		FHIRBase: "http://" + y.address + strings.TrimSuffix(hostilePath, "/"), ExpiresAt: time.Now().Add(24 * time.Hour),
	})
	expect.NoError(t, err)
	partition := &types.AttributeValueMemberS{Value: tenant.Key() + "#CONN#" + connectionID}
	for table, row := range map[string]map[string]types.AttributeValue{
		f.Environment["CONNECTION_TABLE"]: {
			"pk": partition, "sk": &types.AttributeValueMemberS{Value: "META"},
			"status": &types.AttributeValueMemberS{Value: "authorized"},
		},
		f.Environment["TOKENS_TABLE"]: {
			"pk": partition, "sk": &types.AttributeValueMemberS{Value: "TOKENS"},
			"sealed": &types.AttributeValueMemberB{Value: sealed.Sealed}, "version": &types.AttributeValueMemberN{Value: "1"},
		},
	} {
		_, err := rows.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: awssdk.String(table), Item: row})
		expect.NoError(t, err)
	}
}

// export runs a worker in a new process to export the FHIR server's data, and fails the test unless the task succeeds.
// peak is the process's peak memory (VmHWM in /proc), or 0 if the system does not report it.
func (y *processWorld) export(t *testing.T, hostile http.Handler) (task export.Task, peak int64) {
	t.Helper()
	y.hostile = hostile
	y.functions.Kill(workerFunction)
	y.mu.Lock()
	y.peak, y.lines = 0, nil
	y.mu.Unlock()
	previous, _ := y.work.LatestTask(t.Context(), tenant, connectionID)
	id := ids.TaskID(ids.Random())
	expect.NoError(t, y.work.OpenTask(t.Context(), export.Task{
		ID: id, Tenant: tenant, ConnectionID: connectionID, Status: export.Pending, CreatedAt: time.Now(),
	}, previous))
	body, err := due.Item{Tenant: tenant, Kind: due.Task, ID: id}.Encode()
	expect.NoError(t, err)
	payload, err := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: body}}})
	expect.NoError(t, err)
	for run := 0; run < maxRuns && err == nil && task.Status != export.Success && task.Status != export.Failed; run++ {
		if _, err = y.functions.Invoke(t.Context(), workerFunction, payload); err == nil {
			task, err = y.work.Task(t.Context(), tenant, id)
		}
		if task.Deferred {
			y.endWait(t, id)
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if err != nil || task.Status != export.Success {
		t.Fatalf("%v; status %s, reason %s:\n%s", err, task.Status, task.FailureReason,
			strings.Join(y.lines[max(0, len(y.lines)-5):], "\n"))
	}
	return task, y.peak
}

// endWait makes a deferred task due immediately because the worker process uses the real clock.
func (y *processWorld) endWait(t *testing.T, taskID string) {
	t.Helper()
	_, err := dynamodb.NewFromConfig(y.cloud.Config("test")).UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: awssdk.String(y.workTable), UpdateExpression: awssdk.String("REMOVE lease_until"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: tenant.Key() + "#TASK#" + taskID},
			"sk": &types.AttributeValueMemberS{Value: "META"},
		},
	})
	expect.NoError(t, err)
}

// watch implements lambda.Observer and records the worker process's peak memory.
type watch struct{ processWorld *processWorld }

func (w watch) Ended(_ string, _ []byte, _ error, peak int64) {
	w.processWorld.mu.Lock()
	defer w.processWorld.mu.Unlock()
	w.processWorld.peak = max(w.processWorld.peak, peak)
}

func (watch) Requested(string, string, []byte) {}

func (watch) Starting(string) {}

func (watch) Assigned(string, string) {}

func (watch) Wrote(string, string) {}
