// Package job performs the service's main job (docs/develop/lifecycles.md) against a running stack. The package acts as
// an application, a patient and a webhook receiver. The job connects the patient, requests the export, receives the
// webhook and downloads the file.
package job

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"recordbridge/infra/local/runfile"
)

// Job performs the service's main job for the first organisation seeded in the stack.
type Job struct {
	stack   runfile.Run
	org     runfile.Organisation
	persona runfile.Persona
	out     io.Writer
	client  *http.Client
	cookies map[string]*http.Cookie
}

// New returns a job that exports a persona's record. If persona is empty, the job uses the sandbox's third persona. The
// job writes its progress to out. If the stack lacks seed data or the persona, New returns an error.
func New(stack runfile.Run, persona string, out io.Writer) (*Job, error) {
	if len(stack.Organisations) == 0 || len(stack.Sandbox.Personas) < 3 {
		return nil, errors.New("the stack was started without its seed")
	}
	j := &Job{
		stack: stack, org: stack.Organisations[0], persona: stack.Sandbox.Personas[2], out: out,
		cookies: map[string]*http.Cookie{},
		client:  &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	if persona != "" {
		at := slices.IndexFunc(stack.Sandbox.Personas, func(p runfile.Persona) bool { return p.ID == persona })
		if at < 0 {
			return nil, fmt.Errorf("the sandbox has no persona %q", persona)
		}
		j.persona = stack.Sandbox.Personas[at]
	}
	return j, nil
}

// Through makes the job send its requests through client, which must not follow redirects.
func (j *Job) Through(client *http.Client) { j.client = client }

// Perform runs all steps of the main job, stopping at the first error.
func (j *Job) Perform(ctx context.Context) error {
	j.sayf("\n1. Patient %s signs in at the sandbox and consents", j.persona.ID)
	connectionID, err := j.Connect(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	j.sayf("   connected: org_connection_id %s", connectionID)

	j.sayf("2. %s requests the export", j.org.Name)
	taskID, err := j.Request(ctx, connectionID)
	if err != nil {
		return fmt.Errorf("request the export: %w", err)
	}
	j.sayf("   task %s is pending", taskID)

	return j.Finish(ctx, taskID)
}

// Finish waits for the event that reports an export's end, and downloads the event's file. If the organisation has no
// webhook, Finish polls the API instead.
func (j *Job) Finish(ctx context.Context, taskID string) error {
	j.sayf("3. Waiting for the webhook")
	hook, err := j.await(ctx, taskID)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	j.sayf("   %s arrived, signature verified (%s)", hook.Type, hook.ID)
	if hook.Type != succeeded {
		return fmt.Errorf("the export failed: %s", hook.Data.FailureReason)
	}
	j.sayf("   stats: %d resources", hook.Data.Stats.Total)
	for _, t := range slices.Sorted(maps.Keys(hook.Data.Stats.ByType)) {
		j.sayf("     %5d  %s", hook.Data.Stats.ByType[t], t)
	}
	j.sayf("4. Downloading %s", hook.Data.Links[0].ExportType)
	return j.download(ctx, hook.Data.Links[0].URL, hook.Data.Stats.Total)
}

// Connect follows the connect flow as the patient's browser would, gives consent and returns the connection's ID.
func (j *Job) Connect(ctx context.Context) (string, error) {
	address := j.stack.BaseURL + "/bridge/connect?" + url.Values{
		"public_id": {j.org.PublicID}, "endpoint_id": {j.stack.Sandbox.EndpointID}, "redirect_uri": {j.org.RedirectURI},
	}.Encode()
	for range 10 {
		target, err := url.Parse(address)
		if err != nil {
			return "", fmt.Errorf("address: %w", err)
		}
		if strings.HasPrefix(address, j.org.RedirectURI) {
			if failed := target.Query().Get("error"); failed != "" {
				return "", fmt.Errorf("%s: %s", failed, target.Query().Get("error_description"))
			}
			return target.Query().Get("org_connection_id"), nil
		}
		if strings.HasSuffix(target.Path, "/oauth/authorize") {
			target.RawQuery += "&persona=" + url.QueryEscape(j.persona.ID) + "&decision=approve"
		}
		response, err := j.get(ctx, target.String())
		if err != nil {
			return "", err
		}
		_ = response.Body.Close()
		location, err := response.Location()
		if err != nil {
			return "", fmt.Errorf("%s returned status %d", target.Path, response.StatusCode)
		}
		address = location.String()
	}
	return "", errors.New("too many redirects")
}

// Request requests an export of a connection and returns the task's ID.
func (j *Job) Request(ctx context.Context, connectionID string) (string, error) {
	body, err := json.Marshal(map[string]string{"org_connection_id": connectionID})
	if err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, j.stack.BaseURL+"/bridge/fhir/ehi-export",
		bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth(j.org.PublicID, j.org.PrivateKey)
	var answer struct {
		Data struct {
			TaskID string `json:"task_id"`
		} `json:"data"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	response, err := j.client.Do(r)
	if err != nil {
		return "", fmt.Errorf("request: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", fmt.Errorf("decode: %w", err)
	}
	if answer.Error != "" {
		return "", fmt.Errorf("%s: %s", answer.Error, answer.Description)
	}
	return answer.Data.TaskID, nil
}

func (j *Job) sayf(format string, args ...any) { fmt.Fprintf(j.out, format+"\n", args...) }

func (j *Job) get(ctx context.Context, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	for _, c := range j.cookies {
		r.AddCookie(c)
	}
	response, err := j.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	for _, c := range response.Cookies() {
		j.cookies[c.Name] = c
	}
	return response, nil
}

// succeeded is the type of the event that reports a successful export.
const succeeded = "patient.ehi_export_success"

type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data result `json:"data"`
}

// result holds an export's outcome.
type result struct {
	TaskID        string `json:"task_id"`
	FailureReason string `json:"failure_reason"`
	Links         []struct {
		URL        string `json:"url"`
		ExportType string `json:"export_type"`
	} `json:"download_links"`
	Stats struct {
		Total  int            `json:"total_resources"`
		ByType map[string]int `json:"total_by_resource_type"`
	} `json:"stats"`
}

const (
	pollEvery = 5 * time.Millisecond // polling interval of the inbox
	askEvery  = time.Second          // polling interval of the API, which is rate-limited
)

// await polls for the task's event, either in the inbox, where it verifies webhooks, or in the API if the organisation
// has no webhook.
func (j *Job) await(ctx context.Context, taskID string) (event, error) {
	look, every := j.ask, askEvery
	if j.org.WebhookURL != "" {
		verifier, err := standardwebhooks.NewWebhook(j.org.WebhookSecret)
		if err != nil {
			return event{}, fmt.Errorf("secret: %w", err)
		}
		look = func(ctx context.Context, taskID string) (event, error) { return j.look(ctx, taskID, verifier) }
		every = pollEvery
	}
	for {
		found, err := look(ctx, taskID)
		if err != nil || found.ID != "" {
			return found, err
		}
		select {
		case <-ctx.Done():
			return event{}, errors.New("none arrived")
		case <-time.After(every):
		}
	}
}

func (j *Job) look(ctx context.Context, taskID string, verifier *standardwebhooks.Webhook) (event, error) {
	response, err := j.get(ctx, j.org.WebhookURL)
	if err != nil {
		return event{}, err
	}
	defer func() { _ = response.Body.Close() }()
	var received []struct {
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	if err := json.NewDecoder(response.Body).Decode(&received); err != nil {
		return event{}, fmt.Errorf("decode the inbox: %w", err)
	}
	for _, d := range received {
		var e event
		if json.Unmarshal([]byte(d.Body), &e) != nil || e.Data.TaskID != taskID {
			continue
		}
		header := http.Header{}
		for name, value := range d.Headers {
			header.Set(name, value)
		}
		if err := verifier.Verify([]byte(d.Body), header); err != nil {
			return event{}, fmt.Errorf("the signature is invalid: %w", err)
		}
		return e, nil
	}
	return event{}, nil
}

// shownLines and shownWidth limit how much of the file the job prints.
const (
	shownLines = 5
	shownWidth = 110
)

func (j *Job) download(ctx context.Context, link string, want int) error {
	for range 3 {
		response, err := j.get(ctx, link)
		if err != nil {
			return err
		}
		if location, err := response.Location(); err == nil {
			_ = response.Body.Close()
			link = location.String()
			continue
		}
		defer func() { _ = response.Body.Close() }()
		return j.show(response, want)
	}
	return errors.New("download: too many redirects")
}

func (j *Job) show(response *http.Response, want int) error {
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("download: the file's status is %d", response.StatusCode)
	}
	lines := bufio.NewReader(response.Body)
	count := 0
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			count++
			if count <= shownLines {
				j.sayf("   %s…", line[:min(len(line)-1, shownWidth)])
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("download: %w", err)
		}
	}
	j.sayf("   %d lines of %s", count, response.Header.Get("Content-Type"))
	if count != want {
		return fmt.Errorf("the file has %d lines, but the webhook reported %d", count, want)
	}
	return nil
}
