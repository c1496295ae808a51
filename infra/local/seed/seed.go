// Package seed populates a new local stack. The package creates two organisations with credentials, adds webhooks that
// point to the local inbox, and adds the sandbox as an institution. Like the operator programs, the package uses
// shared/manage/operator and never writes to tables directly.
package seed

import (
	"context"
	"fmt"
	"strings"

	shipped "recordbridge/infra/catalog"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Options holds the stack's URLs and the data to seed.
type Options struct {
	BaseURL    string // API base URL, ending in /v1
	ConsoleURL string
	ReturnURL  string // redirect URI of test credentials, on a loopback address
	InboxURL   string // webhooks are sent to InboxURL/<name>; "" disables webhooks
	DataDir    string // directory of the sandbox's bundles; "" for none
	Catalog    shipped.Choice
}

const scope = "launch/patient patient/*.rs offline_access"

// Apply seeds an empty stack and returns its description for .local/run.json (README.md, "What make run shows").
func Apply(ctx context.Context, o *wiring.Operator, to Options) (runfile.Run, error) {
	run := runfile.Run{BaseURL: to.BaseURL, ConsoleURL: to.ConsoleURL, InboxURL: to.InboxURL, Sandbox: runfile.Sandbox{
		FHIRBaseURL: to.BaseURL + "/sandbox/fhir", EndpointID: ids.Derive("sandbox", "endpoint"),
		BrandID: ids.Derive("sandbox", "brand"), PortalID: ids.Derive("sandbox", "portal"),
	}}
	err := AddSandbox(ctx, o, run.Sandbox, "")
	if err == nil {
		err = publish(ctx, o, to)
	}
	if err != nil {
		return runfile.Run{}, err
	}
	if run.Sandbox.Personas, err = personas(to.DataDir); err != nil {
		return runfile.Run{}, err
	}
	run.Organisations, err = Organisations(ctx, o, to)
	return run, err
}

// Organisations creates two sample organisations and returns their credentials. Only the first organisation has live
// mode. If Organisations fails, the result contains the credentials created so far.
func Organisations(ctx context.Context, o *wiring.Operator, to Options) ([]runfile.Organisation, error) {
	var made []runfile.Organisation
	first, err := organisation(ctx, o, "Alder Health App", org.Paid, org.LiveGranted, "alder")
	if err != nil {
		return made, err
	}
	second, err := organisation(ctx, o, "Birch Research App", org.Free, org.LiveNone, "birch")
	if err != nil {
		return append(made, runfile.Organisation{ID: first.ID}), err
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
		seeded.ID, seeded.Name = want.ID, want.Name
		made = append(made, seeded)
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// AddSandbox adds a sandbox portal as an institution that patients can connect, with the given overrides. The portal is
// the sandbox itself or one of the sandbox's deliberately faulty portals.
func AddSandbox(ctx context.Context, o *wiring.Operator, s runfile.Sandbox, overrides string) error {
	issuer := strings.TrimSuffix(s.FHIRBaseURL, "/fhir")
	err := o.Endpoints.Add(ctx, catalog.Endpoint{
		ID: s.EndpointID, BrandID: s.BrandID, PortalID: s.PortalID, Name: "Sandbox Hospital", FHIRBase: s.FHIRBaseURL,
		PlatformType: "sandbox", FHIRVersion: "4.0.1", Mode: string(org.Test), Overrides: overrides,
		// The pins duplicate the sandbox's discovery document, so that seeding doesn't invoke a function.
		// infra/test/e2e checks that the pins match the document.
		Pins: catalog.PinsOf(catalog.Addresses{
			Issuer: issuer, Authorization: issuer, Token: issuer, Revocation: issuer, Introspection: issuer,
		}),
	}, catalog.Registration{
		ClientID: sandbox.DefaultClientID, Scope: scope,
		Callback: catalog.CallbackOf("*", catalog.Place{EndpointID: s.EndpointID}),
	})
	if err != nil {
		return fmt.Errorf("seed the sandbox: %w", err)
	}
	return nil
}

// organisation creates an organisation. The organisation's email address never receives notices, because the local
// console shows them instead.
func organisation(
	ctx context.Context, o *wiring.Operator, name string, plan org.Plan, live org.LiveAccess, host string,
) (org.Organisation, error) {
	site := "https://" + host + ".example"
	made, err := o.Organisations.Create(ctx, org.Organisation{
		Name: name, Plan: plan, LiveAccess: live, Emails: []string{"ops@" + host + ".example.org"},
		LogoURI:          site + "/logo.svg",
		PrivacyPolicyURI: site + "/privacy", WebsiteURI: site,
	})
	if err != nil {
		return org.Organisation{}, fmt.Errorf("seed %s: %w", name, err)
	}
	return made, nil
}

// credential creates a credential and, if inbox is set, a webhook that sends to the inbox. The webhook subscribes to
// all optional event types except extensions (docs/guide/webhook-reference.md).
func credential(
	ctx context.Context, o *wiring.Operator, tenant org.Tenant, redirect, inboxURL, inbox string,
) (runfile.Organisation, error) {
	made, key, err := o.Credentials.Create(ctx, operator.CredentialDraft{Tenant: tenant, Redirects: []string{redirect}})
	if err != nil {
		return runfile.Organisation{}, fmt.Errorf("seed a credential: %w", err)
	}
	seeded := runfile.Organisation{
		Mode: string(tenant.Mode), PublicID: made.PublicID(), PrivateKey: key.Reveal(), RedirectURI: redirect,
	}
	if inbox == "" || inboxURL == "" {
		return seeded, nil
	}
	seeded.WebhookURL = inboxURL + "/" + inbox
	_, signing, err := o.Webhooks.Create(ctx, webhook.Draft{
		Tenant: tenant, URL: seeded.WebhookURL, Optional: append(webhook.Default(), webhook.ConnectionSucceeded,
			webhook.AuthorizationEnded),
	})
	if err != nil {
		return runfile.Organisation{}, fmt.Errorf("seed a webhook: %w", err)
	}
	seeded.WebhookSecret = signing.Reveal()
	return seeded, nil
}

func personas(dataDir string) ([]runfile.Persona, error) {
	all := persona.Builtin()
	if dataDir != "" {
		loaded, err := persona.LoadDir(dataDir)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dataDir, err)
		}
		all = append(all, loaded...)
	}
	listed := make([]runfile.Persona, 0, len(all))
	for _, p := range all {
		listed = append(listed, runfile.Persona{ID: p.ID, PatientID: p.PatientID, Resources: p.Resources})
	}
	return listed, nil
}
