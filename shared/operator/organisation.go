package operator

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

const maxEmails = 10

// Organisations makes and changes organisations.
type Organisations struct{ *core }

// OrganisationRows keeps organisations.
type OrganisationRows interface {
	// CreateOrganisation stores an organisation in both modes; fault.Conflict when it is there already.
	CreateOrganisation(ctx context.Context, o org.Organisation) error
	// Organisation reads an organisation; fault.NotFound.
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
	// SetEmails changes where an organisation's notices go; fault.Conflict when there is no such organisation.
	SetEmails(ctx context.Context, o org.Organisation) error
	// Tenants lists every organisation's tenants.
	Tenants(ctx context.Context) ([]org.Tenant, error)
}

// Create makes an active organisation in both modes; its id is chosen here. Errors are fault.Invalid.
func (o Organisations) Create(ctx context.Context, made org.Organisation) (org.Organisation, error) {
	if strings.TrimSpace(made.Name) == "" {
		return org.Organisation{}, fault.BadRequest("An organisation needs a name.")
	}
	if made.Plan != org.Free && made.Plan != org.Paid {
		return org.Organisation{}, fault.BadRequest("The plan must be free or paid: -plan.")
	}
	for _, address := range []string{made.LogoURI, made.PrivacyPolicyURI, made.WebsiteURI} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
			return org.Organisation{}, fault.BadRequest("The organisation's addresses must be https URLs: -website, -privacy, -logo.")
		}
	}
	if err := checkEmails(made.Emails); err != nil {
		return org.Organisation{}, err
	}
	made.ID, made.Status, made.CreatedAt = o.deps.NewID(), org.Active, o.deps.Now()
	if err := o.deps.Store.CreateOrganisation(ctx, made); err != nil {
		return org.Organisation{}, fmt.Errorf("create organisation: %w", err)
	}
	return made, o.record(ctx, org.Tenant{Mode: org.Live, OrgID: made.ID}, "organisation.created", made.ID)
}

// Emails returns where an organisation's notices go. Errors are fault.NotFound.
func (o Organisations) Emails(ctx context.Context, tenant org.Tenant) ([]string, error) {
	found, err := o.deps.Store.Organisation(ctx, tenant)
	if errors.Is(err, fault.NotFound) {
		return nil, fault.Missing("There is no such organisation.")
	}
	if err != nil {
		return nil, fmt.Errorf("read organisation: %w", err)
	}
	return found.Emails, nil
}

// SetEmails changes where an organisation's notices go. Errors are fault.Invalid and fault.NotFound.
func (o Organisations) SetEmails(ctx context.Context, tenant org.Tenant, emails []string) error {
	if err := checkEmails(emails); err != nil {
		return err
	}
	err := o.deps.Store.SetEmails(ctx, org.Organisation{ID: tenant.OrgID, Emails: emails})
	if errors.Is(err, fault.Conflict) {
		return fault.Missing("There is no such organisation.")
	}
	if err != nil {
		return fmt.Errorf("change e-mail addresses: %w", err)
	}
	return o.record(ctx, tenant, "organisation.emails_changed", tenant.OrgID)
}

// checkEmails takes addresses alone, without names, and as many as one e-mail has room for.
func checkEmails(emails []string) error {
	if len(emails) > maxEmails {
		return fault.BadRequest("An organisation can have at most 10 e-mail addresses.")
	}
	for _, text := range emails {
		if parsed, err := mail.ParseAddress(text); err != nil || parsed.Address != text || len(text) > 254 {
			return fault.BadRequest("An e-mail address is not valid.")
		}
	}
	return nil
}

// Listed is one organisation in one mode.
type Listed struct {
	Tenant       org.Tenant
	Organisation org.Organisation
}

// List lists all organisations in both modes.
func (o Organisations) List(ctx context.Context) ([]Listed, error) {
	tenants, err := o.deps.Store.Tenants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list organisations: %w", err)
	}
	listed := make([]Listed, 0, len(tenants))
	for _, tenant := range tenants {
		found, err := o.deps.Store.Organisation(ctx, tenant)
		if err != nil {
			return nil, fmt.Errorf("read organisation %s: %w", tenant.OrgID, err)
		}
		listed = append(listed, Listed{Tenant: tenant, Organisation: found})
	}
	return listed, nil
}
