// Package seed gives a fresh local stack something to work with: two organisations with credentials and webhooks to
// the local inbox, and the sandbox as a connectable institution. It goes through infra/ctl's operator like any other
// operator would; nothing here writes to a table itself.
package seed

import (
	"context"
	"fmt"

	"recordbridge/functions/sandboxehr"
	"recordbridge/functions/sandboxehr/persona"
	"recordbridge/infra/ctl/operator"
	"recordbridge/shared/catalog"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// Options say where the stack is reached.
type Options struct {
	BaseURL   string // of the API, ending in /v1
	ReturnURL string // where the test credentials' patients return, a loopback address
	InboxURL  string // webhooks go to InboxURL/<name>
	DataDir   string // the sandbox's folder of bundles, "" for none
}

// Run is what was seeded, in the shape of .local/run.json (architecture section 2).
type Run struct {
	BaseURL       string         `json:"base_url"`
	ConsoleURL    string         `json:"console_url"`
	InboxURL      string         `json:"inbox_url"`
	Sandbox       Sandbox        `json:"sandbox"`
	Organisations []Organisation `json:"organisations"`
}

// Sandbox is the synthetic institution.
type Sandbox struct {
	FHIRBaseURL string    `json:"fhir_base_url"`
	EndpointID  string    `json:"endpoint_id"`
	BrandID     string    `json:"brand_id"`
	PortalID    string    `json:"portal_id"`
	Personas    []Persona `json:"personas"`
}

// Persona is one synthetic patient of the sandbox.
type Persona struct {
	ID        string `json:"id"`
	PatientID string `json:"patient_id"`
	Resources int    `json:"resources"`
}

// Organisation is one credential with its webhook.
type Organisation struct {
	Name          string   `json:"name"`
	Mode          org.Mode `json:"mode"`
	OrgID         string   `json:"-"`
	PublicID      string   `json:"public_id"`
	PrivateKey    string   `json:"private_key"`
	RedirectURI   string   `json:"redirect_uri"`
	WebhookURL    string   `json:"webhook_url"`
	WebhookSecret string   `json:"webhook_secret"`
}

// scope is what the sandbox is asked for.
const scope = "launch/patient patient/*.rs offline_access"

// Apply seeds an empty stack.
func Apply(ctx context.Context, o *operator.Operator, to Options) (Run, error) {
	run := Run{BaseURL: to.BaseURL, InboxURL: to.InboxURL, Sandbox: Sandbox{
		FHIRBaseURL: to.BaseURL + "/sandbox/fhir", EndpointID: ids.Derive("sandbox", "endpoint"),
		BrandID: ids.Derive("sandbox", "brand"), PortalID: ids.Derive("sandbox", "portal"),
	}}
	if err := addSandbox(ctx, o, run.Sandbox); err != nil {
		return Run{}, err
	}
	var err error
	if run.Sandbox.Personas, err = personas(to.DataDir); err != nil {
		return Run{}, err
	}
	first, err := organisation(ctx, o, "Alder Health App", org.Paid)
	if err != nil {
		return Run{}, err
	}
	second, err := organisation(ctx, o, "Birch Research App", org.Free)
	if err != nil {
		return Run{}, err
	}
	for _, want := range []struct {
		org.Organisation
		mode     org.Mode
		redirect string
		inbox    string
	}{
		{first, org.Test, to.ReturnURL, "alder"},
		{first, org.Live, "https://app.alder.example/return", ""},
		{second, org.Test, to.ReturnURL, "birch"},
	} {
		seeded, err := credential(ctx, o, org.Tenant{Mode: want.mode, OrgID: want.ID}, want.redirect, to.InboxURL, want.inbox)
		if err != nil {
			return Run{}, err
		}
		seeded.Name = want.Name
		run.Organisations = append(run.Organisations, seeded)
	}
	return run, nil
}

func addSandbox(ctx context.Context, o *operator.Operator, s Sandbox) error {
	err := o.AddEndpoint(ctx, catalog.Endpoint{
		ID: s.EndpointID, BrandID: s.BrandID, PortalID: s.PortalID, Name: "Sandbox Hospital", FHIRBase: s.FHIRBaseURL,
		PlatformType: "sandbox", FHIRVersion: "4.0.1", Mode: string(org.Test),
	}, catalog.Registration{ClientID: sandboxehr.DefaultClientID, Scope: scope})
	if err != nil {
		return fmt.Errorf("seed the sandbox: %w", err)
	}
	return nil
}

func organisation(ctx context.Context, o *operator.Operator, name string, plan org.Plan) (org.Organisation, error) {
	made, err := o.CreateOrganisation(ctx, org.Organisation{
		Name: name, Plan: plan, LogoURI: "https://app.example/logo.svg",
		PrivacyPolicyURI: "https://app.example/privacy", WebsiteURI: "https://app.example",
	})
	if err != nil {
		return org.Organisation{}, fmt.Errorf("seed %s: %w", name, err)
	}
	return made, nil
}

// credential makes a credential and, when an inbox is named, a webhook to it with every optional event type.
func credential(ctx context.Context, o *operator.Operator, tenant org.Tenant, redirect, inboxURL, inbox string) (Organisation, error) {
	made, key, err := o.CreateCredential(ctx, tenant, []string{redirect}, nil)
	if err != nil {
		return Organisation{}, fmt.Errorf("seed a credential: %w", err)
	}
	seeded := Organisation{
		Mode: tenant.Mode, OrgID: tenant.OrgID, PublicID: made.PublicID(), PrivateKey: key.Reveal(), RedirectURI: redirect,
	}
	if inbox == "" {
		return seeded, nil
	}
	seeded.WebhookURL = inboxURL + "/" + inbox
	_, signing, err := o.CreateWebhook(ctx, tenant, seeded.WebhookURL, []webhook.Type{webhook.ConnectionSucceeded})
	if err != nil {
		return Organisation{}, fmt.Errorf("seed a webhook: %w", err)
	}
	seeded.WebhookSecret = signing.Reveal()
	return seeded, nil
}

func personas(dataDir string) ([]Persona, error) {
	all := persona.Builtin()
	if dataDir != "" {
		loaded, err := persona.LoadDir(dataDir)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dataDir, err)
		}
		all = append(all, loaded...)
	}
	listed := make([]Persona, 0, len(all))
	for _, p := range all {
		listed = append(listed, Persona{ID: p.ID, PatientID: p.PatientID, Resources: p.Resources})
	}
	return listed, nil
}
