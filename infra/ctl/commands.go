package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"recordbridge/infra/ctl/operator"
	"recordbridge/shared/catalog"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/smart/platform"
	"recordbridge/shared/webhook"
)

func createOrganisation(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("organisation create", flag.ContinueOnError)
	var made org.Organisation
	flags.StringVar(&made.Name, "name", "", "display name")
	flags.StringVar(&made.WebsiteURI, "website", "", "https URL")
	flags.StringVar(&made.PrivacyPolicyURI, "privacy", "", "https URL")
	flags.StringVar(&made.LogoURI, "logo", "", "https URL")
	plan := flags.String("plan", string(org.Free), "free or paid")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	made.Plan = org.Plan(*plan)
	made, err := o.CreateOrganisation(ctx, made)
	return map[string]any{"id": made.ID, "name": made.Name, "plan": made.Plan}, err
}

func listOrganisations(ctx context.Context, o *operator.Operator, _ []string) (any, error) {
	listed, err := o.Organisations(ctx)
	rows := make([]map[string]any, 0, len(listed))
	for _, l := range listed {
		rows = append(rows, map[string]any{
			"id": l.Organisation.ID, "mode": l.Tenant.Mode, "name": l.Organisation.Name,
			"plan": l.Organisation.Plan, "status": l.Organisation.Status,
		})
	}
	return rows, err
}

// tenantFlags adds the flags that name an organisation in a mode.
func tenantFlags(flags *flag.FlagSet) func() (org.Tenant, error) {
	id := flags.String("org", "", "organisation id")
	mode := flags.String("mode", string(org.Test), "test or live")
	return func() (org.Tenant, error) {
		parsed, okID := ids.ParseUUID(*id)
		m, okMode := org.ParseMode(*mode)
		if !okID || !okMode {
			return org.Tenant{}, errors.New("-org must be an organisation's id and -mode test or live")
		}
		return org.Tenant{Mode: m, OrgID: parsed}, nil
	}
}

func createCredential(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("credential create", flag.ContinueOnError)
	tenantOf := tenantFlags(flags)
	var redirects, origins texts
	flags.Var(&redirects, "redirect", "redirect URI, may be repeated")
	flags.Var(&origins, "origin", "allowed origin, may be repeated")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	credential, private, err := o.CreateCredential(ctx, tenant, redirects, origins)
	return map[string]any{"public_id": credential.PublicID(), "private_key": private.Reveal()}, err
}

func addKey(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("credential add-key", flag.ContinueOnError)
	publicID := flags.String("public-id", "", "public id")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	private, err := o.AddKey(ctx, *publicID)
	return map[string]any{"public_id": *publicID, "private_key": private.Reveal()}, err
}

func revokeKeys(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("credential revoke", flag.ContinueOnError)
	publicID := flags.String("public-id", "", "public id")
	all := flags.Bool("all", false, "all keys, not only the oldest")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return map[string]any{"public_id": *publicID, "revoked": true}, o.RevokeKeys(ctx, *publicID, *all)
}

func createWebhook(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook create", flag.ContinueOnError)
	tenantOf := tenantFlags(flags)
	address := flags.String("url", "", "where events are sent")
	var names texts
	flags.Var(&names, "type", "optional event type, may be repeated")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	var types []webhook.Type
	for _, name := range names {
		t, ok := webhook.ParseType(name)
		if !ok {
			return nil, fmt.Errorf("there is no event type %q", name)
		}
		types = append(types, t)
	}
	sub, signing, err := o.CreateWebhook(ctx, tenant, *address, types)
	return map[string]any{"id": sub.ID, "url": sub.URL, "types": sub.Types, "secret": signing.Reveal()}, err
}

func testWebhook(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("webhook test", flag.ContinueOnError)
	tenantOf := tenantFlags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	id, err := o.SendTest(ctx, tenant)
	return map[string]any{"event_id": id}, err
}

func createEndpoint(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("endpoint create", flag.ContinueOnError)
	e := catalog.Endpoint{ID: ids.Random(), BrandID: ids.Random(), PortalID: ids.Random()}
	var r catalog.Registration
	flags.StringVar(&e.FHIRBase, "fhir-base", "", "FHIR base URL")
	flags.StringVar(&e.Name, "name", "", "institution's name")
	flags.StringVar(&e.PlatformType, "platform", "", "EHR platform type, as platform list shows them")
	flags.StringVar(&e.FHIRVersion, "fhir-version", "4.0.1", "FHIR version")
	flags.StringVar(&e.Mode, "mode", string(org.Test), "test or live")
	flags.StringVar(&r.ClientID, "client-id", "", "our client id there")
	flags.StringVar(&r.Scope, "scope", "", "scopes to ask for, separated by spaces (default: the platform's)")
	access := flags.String("access", "rs", "how the platform spells reading in its scopes: rs (version 2) or read (version 1)")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	known, err := platform.Find(e.PlatformType)
	if err != nil {
		return nil, err
	}
	if *access != "rs" && *access != "read" {
		return nil, errors.New("-access must be rs or read")
	}
	if r.Scope == "" {
		r.Scope = known.Scope(*access)
	}
	return map[string]any{"endpoint_id": e.ID, "brand_id": e.BrandID, "portal_id": e.PortalID}, o.AddEndpoint(ctx, e, r)
}

func listPlatforms(context.Context, *operator.Operator, []string) (any, error) {
	all, err := platform.All()
	rows := make([]map[string]any, 0, len(all))
	for _, p := range all {
		rows = append(rows, map[string]any{"platform_type": p.ID, "name": p.Name, "client_authentication": p.Client.Methods})
	}
	return rows, err
}

// showPlatform prints all that is known of a platform, for whoever registers us there.
func showPlatform(_ context.Context, _ *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("platform show", flag.ContinueOnError)
	id := flags.String("platform", "", "EHR platform type")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return platform.Find(*id)
}
