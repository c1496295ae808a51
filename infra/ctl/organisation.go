package main

import (
	"context"
	"errors"
	"flag"

	"recordbridge/shared/operator"
	"recordbridge/shared/org"
)

func createOrganisation(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("organisation create", flag.ContinueOnError)
	var made org.Organisation
	flags.StringVar(&made.Name, "name", "", "display name")
	flags.StringVar(&made.WebsiteURI, "website", "", "https URL")
	flags.StringVar(&made.PrivacyPolicyURI, "privacy", "", "https URL")
	flags.StringVar(&made.LogoURI, "logo", "", "https URL")
	plan := flags.String("plan", string(org.Free), "free or paid")
	var emails texts
	flags.Var(&emails, "email", "where notices go, may be repeated")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	made.Plan, made.Emails = org.Plan(*plan), emails
	made, err := o.Organisations.Create(ctx, made)
	return map[string]any{"id": made.ID, "name": made.Name, "plan": made.Plan}, err
}

// emails shows where an organisation's notices go, or changes it. What is left out changes nothing.
func emails(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("organisation emails", flag.ContinueOnError)
	tenantOf := tenantFlags(flags)
	var named texts
	flags.Var(&named, "email", "where notices go from now on, may be repeated; without it they are shown")
	none := flags.Bool("none", false, "notices go nowhere from now on")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	if *none && len(named) > 0 {
		return nil, errors.New("-none and -email do not go together")
	}
	if *none || len(named) > 0 {
		if err = o.Organisations.SetEmails(ctx, tenant, named); err != nil {
			return nil, err
		}
	}
	stored, err := o.Organisations.Emails(ctx, tenant)
	return map[string]any{"org": tenant.OrgID, "emails": append([]string{}, stored...)}, err
}

func listOrganisations(ctx context.Context, o *operator.Operator, _ []string) (any, error) {
	listed, err := o.Organisations.List(ctx)
	rows := make([]map[string]any, 0, len(listed))
	for _, l := range listed {
		rows = append(rows, map[string]any{
			"id": l.Organisation.ID, "mode": l.Tenant.Mode, "name": l.Organisation.Name,
			"plan": l.Organisation.Plan, "status": l.Organisation.Status,
		})
	}
	return rows, err
}

func createCredential(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("credential create", flag.ContinueOnError)
	tenantOf := tenantFlags(flags)
	var redirects, origins texts
	flags.Var(&redirects, "redirect", "redirect URI, may be repeated")
	flags.Var(&origins, "origin", "allowed origin, may be repeated")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	tenant, err := tenantOf()
	if err != nil {
		return nil, err
	}
	credential, private, err := o.Credentials.Create(ctx, tenant, redirects, origins)
	return showing(map[string]any{"public_id": credential.PublicID(), "private_key": private.Reveal()}, private, err)
}

func addKey(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("credential add-key", flag.ContinueOnError)
	publicID := flags.String("public-id", "", "public id")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	private, err := o.Credentials.AddKey(ctx, *publicID)
	return showing(map[string]any{"public_id": *publicID, "private_key": private.Reveal()}, private, err)
}

func revokeKeys(ctx context.Context, o *operator.Operator, args []string) (any, error) {
	flags := flag.NewFlagSet("credential revoke", flag.ContinueOnError)
	publicID := flags.String("public-id", "", "public id")
	all := flags.Bool("all", false, "all keys, not only the oldest")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	return map[string]any{"public_id": *publicID, "revoked": true}, o.Credentials.RevokeKeys(ctx, *publicID, *all)
}
