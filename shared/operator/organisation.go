package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

const maxEmails = 10

// Organisations makes and changes organisations.
type Organisations struct{ *core }

// OrganisationRows keeps organisations, each in both modes alike.
type OrganisationRows interface {
	// CreateOrganisation stores an organisation in both modes; fault.Conflict when it is there already.
	CreateOrganisation(ctx context.Context, o org.Organisation) error
	// Organisation reads an organisation; fault.NotFound.
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
	// SaveOrganisation and RemoveOrganisation change the revision that was read, in both modes; fault.Conflict.
	SaveOrganisation(ctx context.Context, o org.Organisation) error
	RemoveOrganisation(ctx context.Context, o org.Organisation) error
	// Tenants lists every organisation's tenants.
	Tenants(ctx context.Context) ([]org.Tenant, error)
}

// Create makes an active organisation in both modes; its id is chosen here. It has live mode if its stage says so, which is the operator's
// decision. Errors are fault.Invalid.
func (o Organisations) Create(ctx context.Context, made org.Organisation) (org.Organisation, error) {
	var err error
	if made.Name, err = org.ParseName(made.Name); err != nil {
		return org.Organisation{}, err
	}
	urls := OrganisationChange{Website: &made.WebsiteURI, Privacy: &made.PrivacyPolicyURI, Terms: &made.TermsURI, Logo: &made.LogoURI}
	if err := errors.Join(o.normalURLs(&made, urls), checkOrganisation(made)); err != nil {
		return org.Organisation{}, err
	}
	if err := checkEmails(made.Emails, nil); err != nil {
		return org.Organisation{}, err
	}
	made.VerifiedEmails = made.Emails // an operator vouches for what it enters
	made.ID, made.Status, made.CreatedAt = o.deps.NewID(), org.Active, o.deps.Now()
	made.LiveAccess = cmp.Or(made.LiveAccess, org.LiveNone)
	if made.LiveAccess == org.LiveGranted {
		made.LiveReview.DecidedAt = made.CreatedAt
	}
	if err := o.deps.Store.CreateOrganisation(ctx, made); err != nil {
		return org.Organisation{}, fmt.Errorf("create organisation: %w", err)
	}
	return made, o.record(ctx, org.Tenant{Mode: org.Live, OrgID: made.ID}, "organisation.created", made.ID)
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

// Show reads an organisation. Errors are fault.NotFound.
func (o Organisations) Show(ctx context.Context, tenant org.Tenant) (org.Organisation, error) {
	return o.organisation(ctx, tenant)
}

// OrganisationChange is what an operator says of an organisation. What is nil stays as it is.
type OrganisationChange struct {
	Name    *string
	Plan    *string
	Website *string // empty: it has none; so are all that follow
	Privacy *string
	Terms   *string
	Logo    *string
	Accent  *string
	Emails  []string // nil: as they are
	// OwnAddress is the address of the account that makes the change, which its sign-in has proven; empty for an operator.
	OwnAddress string

	own bool // a member changes it (ChangeOwn)
}

// Change changes what is named of an organisation, in both modes. Errors are fault.Invalid, fault.NotFound and
// fault.Conflict.
func (o Organisations) Change(ctx context.Context, tenant org.Tenant, change OrganisationChange) (org.Organisation, error) {
	return o.change(ctx, tenant, change)
}

// SetEmails changes where an organisation's notices go, for an operator, who vouches for the addresses. Errors are fault.Invalid, fault.NotFound and fault.Conflict.
func (o Organisations) SetEmails(ctx context.Context, tenant org.Tenant, emails []string) error {
	_, err := o.save(ctx, tenant, "organisation.emails_changed", func(found *org.Organisation) error {
		err := checkEmails(emails, found.Emails)
		found.Emails, found.VerifiedEmails = emails, emails
		return err
	})
	return err
}

// Suspend stops an organisation in both modes, within 30 seconds: its keys and public ids answer as if there were none.
// What is under way ends, connections are looked after, and events are delivered (docs/operations.md, "Stopping and
// removing"). Errors are fault.NotFound and fault.Conflict.
func (o Organisations) Suspend(ctx context.Context, tenant org.Tenant) error {
	return o.setStatus(ctx, tenant, org.Inactive, "organisation.suspended")
}

// Resume makes a suspended organisation work again. Errors are fault.NotFound and fault.Conflict.
func (o Organisations) Resume(ctx context.Context, tenant org.Tenant) error {
	deleting, err := o.isDeleting(ctx, tenant.OrgID)
	if err != nil {
		return err
	}
	if deleting {
		return refused("The organisation is being deleted.")
	}
	return o.setStatus(ctx, tenant, org.Active, "organisation.resumed")
}

// Remove removes a suspended organisation that nothing belongs to in either mode. Errors are fault.NotFound, and
// fault.Conflict with what is left.
func (o Organisations) Remove(ctx context.Context, tenant org.Tenant) error {
	found, err := o.organisation(ctx, tenant)
	if err != nil {
		return err
	}
	if found.Status != org.Inactive {
		return refused("The organisation is active. Suspend it first.")
	}
	left, err := o.left(ctx, found)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return refused(fmt.Sprintf("The organisation still has %s.", strings.Join(left, ", ")))
	}
	if err := o.deps.Store.RemoveOrganisation(ctx, found); err != nil {
		return changed("organisation", err)
	}
	return o.record(ctx, tenant, "organisation.removed", tenant.OrgID)
}

func (o Organisations) change(ctx context.Context, tenant org.Tenant, change OrganisationChange) (org.Organisation, error) {
	return o.save(ctx, tenant, "organisation.changed", func(found *org.Organisation) error {
		was := *found
		if err := rename(found, change.Name); err != nil {
			return err
		}
		for to, said := range map[*string]*string{
			&found.Accent: change.Accent, (*string)(&found.Plan): change.Plan,
		} {
			if said != nil {
				*to = *said
			}
		}
		if change.Emails != nil {
			if err := setEmails(found, change.Emails, change.OwnAddress); err != nil {
				return err
			}
		}
		if err := o.normalURLs(found, change); err != nil {
			return err
		}
		if change.own {
			if err := checkReviewed(o.deps.Own, was, *found); err != nil {
				return err
			}
		}
		return checkOrganisation(*found)
	})
}

func (o Organisations) setStatus(ctx context.Context, tenant org.Tenant, status org.Status, action string) error {
	_, err := o.save(ctx, tenant, action, func(found *org.Organisation) error {
		if found.Status == status {
			return refused(fmt.Sprintf("The organisation is %s already.", status))
		}
		found.Status = status
		return nil
	})
	return err
}

// save changes an organisation as it was read, and records the action.
func (o Organisations) save(
	ctx context.Context, tenant org.Tenant, action string, change func(*org.Organisation) error,
) (org.Organisation, error) {
	found, err := o.organisation(ctx, tenant)
	if err != nil {
		return org.Organisation{}, err
	}
	if err := change(&found); err != nil {
		return org.Organisation{}, err
	}
	if err := o.deps.Store.SaveOrganisation(ctx, found); err != nil {
		return org.Organisation{}, changed("organisation", err)
	}
	return found, o.record(ctx, tenant, action, tenant.OrgID)
}

// left tells what belongs to an organisation.
func (o Organisations) left(ctx context.Context, of org.Organisation) ([]string, error) {
	var left []string
	for _, tenant := range of.Tenants() {
		own, err := o.leftIn(ctx, tenant)
		if err != nil {
			return nil, err
		}
		left = append(left, own...)
	}
	registrations, err := o.deps.Store.Registrations(ctx)
	if err != nil {
		return nil, fmt.Errorf("list registrations: %w", err)
	}
	clients, err := o.deps.Store.ClientAuths(ctx)
	if err != nil {
		return nil, fmt.Errorf("list clients: %w", err)
	}
	for _, r := range registrations {
		if r.Owner.OrgID == of.ID {
			left = append(left, "the registration "+r.Registration.ClientID)
		}
	}
	for _, c := range clients {
		if c.Owner.OrgID == of.ID {
			left = append(left, "the client "+c.Auth.ID)
		}
	}
	return left, nil
}

// leftIn tells what of it is in one mode.
func (o Organisations) leftIn(ctx context.Context, tenant org.Tenant) ([]string, error) {
	credentials, err := o.deps.Store.Credentials(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list credentials: %w", err)
	}
	webhooks, err := o.deps.Store.Subscriptions(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	connected, err := o.deps.Connections.HasConnections(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("look for connections: %w", err)
	}
	var left []string
	if len(credentials) > 0 {
		left = append(left, fmt.Sprintf("%d credentials in %s mode", len(credentials), tenant.Mode))
	}
	if len(webhooks) > 0 {
		left = append(left, fmt.Sprintf("%d webhooks in %s mode", len(webhooks), tenant.Mode))
	}
	if connected {
		left = append(left, fmt.Sprintf("connections in %s mode, which stay for good", tenant.Mode))
	}
	return left, nil
}

// rename gives an organisation another name. A name that it had before names were checked can stay.
func rename(o *org.Organisation, name *string) error {
	if name == nil || *name == o.Name {
		return nil
	}
	parsed, err := org.ParseName(*name)
	o.Name = parsed
	return err
}

func checkOrganisation(o org.Organisation) error {
	if o.Plan != org.Free && o.Plan != org.Paid {
		return fault.BadRequest("The plan must be free or paid.").About("plan")
	}
	if o.Accent != "" && !isColour(o.Accent) {
		return fault.BadRequest("An accent is a colour such as #1a5fb4: six digits, in lower case.").About("accent")
	}
	return nil
}

// isColour tells whether text is a colour as pages compute with it.
func isColour(text string) bool {
	digits, ok := strings.CutPrefix(text, "#")
	return ok && len(digits) == 6 && strings.Trim(digits, "0123456789abcdef") == ""
}

// organisation reads an organisation; fault.NotFound.
func (c *core) organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error) {
	found, err := c.deps.Store.Organisation(ctx, tenant)
	if errors.Is(err, fault.NotFound) {
		return org.Organisation{}, fault.Missing(fmt.Sprintf("There is no organisation %s.", tenant.OrgID)).About("org")
	}
	if err != nil {
		return org.Organisation{}, fmt.Errorf("read organisation: %w", err)
	}
	return found, nil
}
