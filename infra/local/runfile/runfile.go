// Package runfile writes .local/run.json for scripts and other programs. The file describes the stack that `make run`
// started and contains its keys. The package defines the file's format (README.md, "What make run shows") and
// permissions.
package runfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Stack names (docs/develop/architecture.md, "Where it runs").
const (
	Embedded   = "embedded"
	SAMLocal   = "sam local"
	LocalStack = "localstack"
)

// Run is the content of the run file.
type Run struct {
	Stack string `json:"stack"` // one of the stack name constants
	// Release is the release's name, which starts with the time at which the stack started.
	Release string `json:"release,omitempty"`
	BaseURL string `json:"base_url"`
	// DashboardURL is the dashboard's URL, with the host name that its cookie and passkeys require.
	DashboardURL  string         `json:"dashboard_url"`
	ConsoleURL    string         `json:"console_url"` // URL of the console; empty if the stack has none
	InboxURL      string         `json:"inbox_url"`   // a GET request to this URL lists received webhooks
	AWS           AWS            `json:"aws,omitzero"`
	Sandbox       Sandbox        `json:"sandbox"`
	Organisations []Organisation `json:"organisations"` // one element for each credential of an organisation
	// Owner is the email address of the first organisation's owner. Sign-in codes for this address appear in the
	// console's mailbox.
	Owner string `json:"owner_email,omitempty"`
}

// AWS holds the embedded AWS's credentials for operator programs, and the stack's outputs. The secret changes at every
// start.
type AWS struct {
	EndpointURL     string            `json:"endpoint_url"`
	Region          string            `json:"region"`
	AccessKeyID     string            `json:"access_key_id"`
	SecretAccessKey string            `json:"secret_access_key"`
	Outputs         map[string]string `json:"outputs"`
}

// Sandbox describes the synthetic EHR.
type Sandbox struct {
	FHIRBaseURL string    `json:"fhir_base_url"`
	EndpointID  string    `json:"endpoint_id"`
	BrandID     string    `json:"brand_id"`
	PortalID    string    `json:"portal_id"`
	Personas    []Persona `json:"personas"`
}

// Persona describes a patient in the sandbox.
type Persona struct {
	ID        string `json:"id"`
	PatientID string `json:"patient_id"`
	Resources int    `json:"resources"` // total number of resources in the record
}

// Organisation describes an organisation and one of its credentials. The secrets are in plain text, protected only by
// the file's permissions.
type Organisation struct {
	ID            string `json:"org_id"` // organisation ID for the operator's CLI
	Name          string `json:"name"`
	Mode          string `json:"mode"` // "test" or "live"
	PublicID      string `json:"public_id"`
	PrivateKey    string `json:"private_key"`
	RedirectURI   string `json:"redirect_uri"`
	WebhookURL    string `json:"webhook_url"` // empty in live mode, because only test mode allows loopback URLs
	WebhookSecret string `json:"webhook_secret"`
}

// Write atomically replaces the file with run, creating the directory if necessary. Only the file's owner can read it.
func Write(file string, run Run) error {
	if run.Sandbox.Personas == nil {
		run.Sandbox.Personas = []Persona{}
	}
	if run.Organisations == nil {
		run.Organisations = []Organisation{}
	}
	text, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err = os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	draft, err := os.CreateTemp(filepath.Dir(file), "run-*.json") // created with mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = draft.Write(append(text, '\n'))
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, errors.Join(err, os.Remove(draft.Name())))
	}
	return nil
}
