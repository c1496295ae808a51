package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/version"
	"recordbridge/shared/words/weburl"
)

const maxEmails = 10

// Organisations creates, shows and changes organisations.
type Organisations struct {
	orgEditor

	rows OrganisationRows
	own  weburl.Own
}

// OrganisationRows stores each organisation in both modes.
type OrganisationRows interface {
	OrganisationSaver
	TenantLister
	// CreateOrganisation stores an organisation in both modes. It returns fault.Conflict if the organisation already
	// exists.
	CreateOrganisation(ctx context.Context, o org.Organisation) error
}

// NewOrganisations returns an Organisations that rejects organisations' URLs if they are among the service's own URLs.
func NewOrganisations(rows OrganisationRows, own weburl.Own, by Journal) Organisations {
	return Organisations{orgEditor: orgEditor{saver: rows, by: by}, rows: rows, own: own}
}

// As returns a copy of o that records actor in audit rows.
func (o Organisations) As(actor string) Organisations {
	o.by = o.by.As(actor)
	return o
}

// Create creates an active organisation in both modes and assigns its ID. The organisation has live mode only if the
// operator sets LiveAccess to org.LiveGranted. Create returns fault.Invalid for invalid fields.
func (o Organisations) Create(ctx context.Context, made org.Organisation) (org.Organisation, error) {
	var err error
	if made.Name, err = org.ParseName(made.Name); err != nil {
		return org.Organisation{}, err
	}
	urls := OrganisationChange{
		Website: &made.WebsiteURI, Privacy: &made.PrivacyPolicyURI, Terms: &made.TermsURI,
		Logo: &made.LogoURI,
	}
	if err := errors.Join(normalURLs(o.own, &made, urls), checkOrganisation(made)); err != nil {
		return org.Organisation{}, err
	}
	if err := made.Purpose.Set(&made.Purpose.English, &made.Purpose.Spanish); err != nil {
		return org.Organisation{}, err
	}
	if err := checkEmails(made.Emails, nil); err != nil {
		return org.Organisation{}, err
	}
	made.VerifiedEmails = made.Emails // the operator vouches for the addresses
	made.ID, made.Status, made.CreatedAt = o.by.newID(), org.Active, o.by.now()
	made.LiveAccess = cmp.Or(made.LiveAccess, org.LiveNone)
	if made.LiveAccess == org.LiveGranted {
		made.LiveReview.DecidedAt = made.CreatedAt
	}
	if err := o.rows.CreateOrganisation(ctx, made); err != nil {
		return org.Organisation{}, fmt.Errorf("create organisation: %w", err)
	}
	return made, o.by.record(ctx, org.Tenant{Mode: org.Live, OrgID: made.ID}, "organisation.created", made.ID,
		organisationChanges(org.Organisation{}, made)...)
}

// Listed holds an organisation in one of its modes.
type Listed struct {
	Tenant       org.Tenant
	Organisation org.Organisation
}

// List returns all organisations in both modes.
func (o Organisations) List(ctx context.Context) ([]Listed, error) {
	return listOrganisations(ctx, o.rows)
}

// Show returns an organisation. It returns fault.NotFound if the organisation does not exist.
func (o Organisations) Show(ctx context.Context, tenant org.Tenant) (org.Organisation, error) {
	return findOrganisation(ctx, o.rows, tenant)
}

// OrganisationChange describes a change to an organisation. Nil fields leave the organisation unchanged.
type OrganisationChange struct {
	Name    *string
	Plan    *string
	Website *string // empty to remove the website, as in the next four fields
	Privacy *string
	Terms   *string
	Logo    *string
	Accent  *string
	// Radius, Font and ColorScheme are passed to org.Look.Set. An empty value restores the default.
	Radius      *string
	Font        *string
	ColorScheme *string
	// PurposeEN and PurposeES are passed to org.Purpose.Set. An empty string removes the stored text.
	PurposeEN *string
	PurposeES *string
	Emails    []string // notice addresses; nil if unchanged
	// OwnAddress is the email address of the account making the change. The account's sign-in has verified this email
	// address. OwnAddress is empty for an operator.
	OwnAddress string
	From       version.Match // versions of the organisation that may be changed

	own bool // set by ChangeOwn for a member's change
}

// Change changes the given fields of an organisation in both modes. It returns fault.Invalid, fault.NotFound or
// fault.Conflict on failure.
func (o Organisations) Change(ctx context.Context, tenant org.Tenant,
	change OrganisationChange,
) (org.Organisation, error) {
	return o.change(ctx, tenant, change)
}

// SetEmails replaces an organisation's notice addresses on behalf of an operator, who vouches for the new addresses. It
// returns fault.Invalid, fault.NotFound or fault.Conflict on failure.
func (o Organisations) SetEmails(ctx context.Context, tenant org.Tenant, emails []string) error {
	_, err := o.save(ctx, tenant, "organisation.emails_changed", func(found *org.Organisation) error {
		err := checkEmails(emails, found.Emails)
		found.Emails, found.VerifiedEmails = emails, emails
		return err
	})
	return err
}

// ChangeOwn is like Change, but for members of the organisation. While live mode is requested or granted, members can't
// change the name, logo or website, which operators review. In these stages, members can change the privacy policy but
// can't remove it. ChangeOwn returns the same errors as Change.
func (o Organisations) ChangeOwn(
	ctx context.Context, tenant org.Tenant, change OrganisationChange,
) (org.Organisation, error) {
	change.own = true
	return o.change(ctx, tenant, change)
}

func (o Organisations) change(
	ctx context.Context, tenant org.Tenant, change OrganisationChange,
) (org.Organisation, error) {
	var was, is org.Organisation
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		was, is, err = o.apply(ctx, tenant, o.changing(change))
		return err
	})
	if err != nil {
		return org.Organisation{}, err
	}
	return is, o.by.record(ctx, tenant, "organisation.changed", tenant.OrgID, organisationChanges(was, is)...)
}

// changing returns a function that checks a change and applies it.
func (o Organisations) changing(change OrganisationChange) func(*org.Organisation) error {
	return func(found *org.Organisation) error {
		if err := change.From.Check("organisation", found.Version()); err != nil {
			return err
		}
		was := *found
		if err := change.apply(found, o.own); err != nil {
			return err
		}
		if change.own {
			if err := checkReviewed(was, *found); err != nil {
				return err
			}
		}
		return checkOrganisation(*found)
	}
}

// apply sets an organisation's changed fields in normalised form. It returns fault.Invalid for an invalid field.
func (c OrganisationChange) apply(found *org.Organisation, own weburl.Own) error {
	if c.Name != nil {
		name, err := org.ParseName(*c.Name)
		if err != nil {
			return err
		}
		found.Name = name
	}
	for to, value := range map[*string]*string{&found.Accent: c.Accent, (*string)(&found.Plan): c.Plan} {
		if value != nil {
			*to = *value
		}
	}
	if c.Emails != nil {
		if err := setEmails(found, c.Emails, c.OwnAddress); err != nil {
			return err
		}
	}
	if err := found.Look.Set(c.Radius, c.Font, c.ColorScheme); err != nil {
		return err
	}
	if err := found.Purpose.Set(c.PurposeEN, c.PurposeES); err != nil {
		return err
	}
	return normalURLs(own, found, c)
}

// OrganisationSaver reads and saves organisations.
type OrganisationSaver interface {
	OrganisationReader
	// SaveOrganisation stores an organisation in both modes. It returns fault.Conflict if the organisation has changed
	// since it was read.
	SaveOrganisation(ctx context.Context, o org.Organisation) error
}

// orgEditor changes organisations for the types that embed it.
type orgEditor struct {
	saver OrganisationSaver
	by    Journal
}

// save applies a change and writes its audit row.
func (e orgEditor) save(
	ctx context.Context, tenant org.Tenant, action string, change func(*org.Organisation) error,
) (org.Organisation, error) {
	was, is, err := e.apply(ctx, tenant, change)
	if err != nil {
		return org.Organisation{}, err
	}
	return is, e.by.record(ctx, tenant, action, tenant.OrgID, organisationChanges(was, is)...)
}

// apply reads an organisation, changes it and stores it. It returns both revisions. It returns fault.Conflict if the
// organisation has changed since it was read.
func (e orgEditor) apply(
	ctx context.Context, tenant org.Tenant, change func(*org.Organisation) error,
) (was, is org.Organisation, err error) {
	if was, err = findOrganisation(ctx, e.saver, tenant); err != nil {
		return org.Organisation{}, org.Organisation{}, err
	}
	is = was
	if err = change(&is); err != nil {
		return org.Organisation{}, org.Organisation{}, err
	}
	if err = e.saver.SaveOrganisation(ctx, is); err != nil {
		return org.Organisation{}, org.Organisation{}, changed("organisation", err)
	}
	return was, is, nil
}

func checkOrganisation(o org.Organisation) error {
	if o.Plan != org.Free && o.Plan != org.Paid {
		return fault.BadRequest("The plan must be free or paid.").About("plan")
	}
	if o.Accent != "" && !isColour(o.Accent) {
		return fault.BadRequest("An accent must be a colour such as #1a5fb4: six hex digits in lower " +
			"case.").About("accent")
	}
	return o.Look.Check()
}

// isColour reports whether text is a colour in the form #1a5fb4.
func isColour(text string) bool {
	digits, ok := strings.CutPrefix(text, "#")
	return ok && len(digits) == 6 && strings.Trim(digits, "0123456789abcdef") == ""
}

// OrganisationLister lists and reads organisations.
type OrganisationLister interface {
	OrganisationReader
	TenantLister
}

func listOrganisations(ctx context.Context, rows OrganisationLister) ([]Listed, error) {
	tenants, err := rows.Tenants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list organisations: %w", err)
	}
	listed := make([]Listed, 0, len(tenants))
	for _, tenant := range tenants {
		found, err := rows.Organisation(ctx, tenant)
		if err != nil {
			return nil, fmt.Errorf("read organisation %s: %w", tenant.OrgID, err)
		}
		listed = append(listed, Listed{Tenant: tenant, Organisation: found})
	}
	return listed, nil
}

// checkReviewed rejects a member's change to a field that an operator has reviewed or will review.
func checkReviewed(was, is org.Organisation) error {
	if was.LiveAccess != org.LiveGranted && was.LiveAccess != org.LiveRequested {
		return nil
	}
	for _, reviewed := range []struct{ field, was, is string }{
		{"name", was.Name, is.Name},
		{"logo", was.LogoURI, is.LogoURI},
		{"website", was.WebsiteURI, is.WebsiteURI},
	} {
		if reviewed.was != reviewed.is {
			return fault.New(fault.Conflict, fault.CodeConflict,
				"Your name, logo and website were reviewed for live mode. Ask your Recordbridge operator to change "+
					"them.").About(reviewed.field)
		}
	}
	if was.PrivacyPolicyURI != "" && is.PrivacyPolicyURI == "" {
		return fault.New(fault.Conflict, fault.CodeConflict, "Live mode requires a privacy policy.").About("privacy")
	}
	return nil
}
