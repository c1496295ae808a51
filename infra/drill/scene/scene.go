// Package scene stages incidents on a stack of its own: it acts as patients, organisations, health systems and AWS,
// with real requests, and reads what the functions log.
package scene

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"recordbridge/infra/demo/job"
	"recordbridge/infra/drill/runbook"
	"recordbridge/infra/local/faults"
	"recordbridge/infra/local/own"
	"recordbridge/infra/local/runfile"
)

// Scene is a stack on which an incident is staged.
type Scene struct {
	*own.Stack

	Org     runfile.Organisation // organisation that the incident affects
	Root    string               // repository root
	Control string               // path of the ctl program
	Printed string               // output of the runbook's commands so far
	values  map[string]string    // values of the runbook's variables
}

// New returns a scene on the stack for the first organisation. root is the repository's root, and control the ctl
// program.
func New(stack *own.Stack, root, control string) *Scene {
	s := &Scene{Stack: stack, Org: stack.Organisations[0], Root: root, Control: control, values: map[string]string{}}
	s.Set("ORG", s.Org.ID)
	s.Set("MODE", s.Org.Mode)
	return s
}

// Set sets a variable that the runbook's commands use.
func (s *Scene) Set(name, value string) { s.values[name] = value }

// Variables returns the environment of the runbook's commands: the runbook's variables, and access to the stack.
func (s *Scene) Variables() map[string]string {
	all := map[string]string{
		"stack": "local", "CTL": s.Control,
		"AWS_ENDPOINT_URL": s.AWS.EndpointURL, "AWS_REGION": s.AWS.Region, "AWS_DEFAULT_REGION": s.AWS.Region,
		"AWS_ACCESS_KEY_ID": s.AWS.AccessKeyID, "AWS_SECRET_ACCESS_KEY": s.AWS.SecretAccessKey,
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PAGER": "",
		"AWS_EC2_METADATA_DISABLED": "true",
	}
	maps.Copy(all, s.values)
	return all
}

// Config returns the operator's AWS configuration.
func (s *Scene) Config() aws.Config {
	return aws.Config{
		Region: s.AWS.Region, BaseEndpoint: aws.String(s.AWS.EndpointURL),
		Credentials: credentials.NewStaticCredentialsProvider(s.AWS.AccessKeyID, s.AWS.SecretAccessKey, ""),
	}
}

// Job returns a job that acts as a patient, or as any patient if persona is empty, and as the organisation.
func (s *Scene) Job(persona string) (*job.Job, error) {
	stack := s.Run
	stack.Organisations = []runfile.Organisation{s.Org}
	return job.New(stack, persona, io.Discard)
}

// Connect connects a patient and returns the connection's ID.
func (s *Scene) Connect(ctx context.Context) (string, error) { return s.ConnectAs(ctx, "") }

// ConnectAs connects the patient with the given ID.
func (s *Scene) ConnectAs(ctx context.Context, persona string) (string, error) {
	j, err := s.Job(persona)
	if err != nil {
		return "", err
	}
	return j.Connect(ctx)
}

// Export requests an export of a connection and returns the task's ID.
func (s *Scene) Export(ctx context.Context, connection string) (string, error) {
	j, err := s.Job("")
	if err != nil {
		return "", err
	}
	return j.Request(ctx, connection)
}

// Call sends a request to the organisations' API with a private key, and returns the status and body.
func (s *Scene) Call(ctx context.Context, method, path, privateKey string) (status int, body string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, s.BaseURL+path, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	r.SetBasicAuth(s.Org.PublicID, privateKey)
	return send(r)
}

// ExportStatus returns the status of an export.
func (s *Scene) ExportStatus(ctx context.Context, task string) (string, error) {
	_, body, err := s.Call(ctx, http.MethodGet, "/bridge/fhir/ehi-export/"+task, s.Org.PrivateKey)
	if err != nil {
		return "", err
	}
	var answer struct{ Data struct{ Status string } }
	err = json.Unmarshal([]byte(body), &answer)
	return answer.Data.Status, err
}

// Received returns the number of webhooks that the organisation has received for a task or another ID.
func (s *Scene) Received(ctx context.Context, id string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Org.WebhookURL, http.NoBody)
	if err != nil {
		return 0, err
	}
	_, body, err := send(r)
	return strings.Count(body, id), err
}

// Fail makes AWS fail as the faults specify. Without faults, AWS works again.
func (s *Scene) Fail(ctx context.Context, all ...faults.Fault) error {
	if all == nil {
		all = []faults.Fault{}
	}
	return s.console(ctx, "/faults", map[string]any{"faults": all})
}

// Fire runs a scheduled function now, and waits for its end.
func (s *Scene) Fire(ctx context.Context, function string) error {
	return s.console(ctx, "/functions/"+function+"/fire", nil)
}

// Kill ends a function's processes, so that the next ones start without caches.
func (s *Scene) Kill(ctx context.Context, function string) error {
	return s.console(ctx, "/functions/"+function+"/kill", nil)
}

func send(r *http.Request) (status int, body string, err error) {
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), errors.Join(err, response.Body.Close())
}

// Wait polls until done returns nil, and returns done's last error if ctx ends first.
func Wait(ctx context.Context, done func(context.Context) error) error {
	for {
		err := done(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Ctl runs ctl on the stack with the given standard input, and returns its output.
func (s *Scene) Ctl(ctx context.Context, input string, arguments ...string) (string, error) {
	//nolint:gosec // our own program
	command := exec.CommandContext(ctx, s.Control, append([]string{"-outputs", s.RunFile}, arguments...)...)
	var stdout, stderr bytes.Buffer
	command.Dir, command.Stdin, command.Stdout, command.Stderr = s.Root, strings.NewReader(input), &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("ctl %s: %w: %s", strings.Join(arguments, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// Environment returns shell commands that prepare a terminal for the runbook's commands.
func (s *Scene) Environment() string {
	var text strings.Builder
	variables := s.Variables()
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		fmt.Fprintf(&text, "export %s='%s'\n", name, variables[name])
	}
	return text.String() + runbook.AWS
}

// NewWebhook creates a webhook of the scene's organisation, and returns its ID.
func (s *Scene) NewWebhook(ctx context.Context, url string) (string, error) {
	return s.ctlID(ctx, "", "id", "webhook", "create", "-org", s.Org.ID, "-mode", s.Org.Mode, "-url", url)
}

func (s *Scene) console(ctx context.Context, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.ConsoleURL+"/api"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	status, answer, err := send(r)
	if err == nil && status >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %d %s", path, status, answer)
	}
	return err
}
