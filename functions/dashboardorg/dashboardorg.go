// Package dashboardorg serves /dashboard/organisations (docs/openapi.yaml). The endpoints manage an organisation's
// settings, live access, deletion and patients' inquiries. The endpoints also return the organisation's usage, audit
// log and setup overview. The dashboard's pages call these endpoints. Each route declares the role that it requires
// (docs/adr/0036-the-dashboard.md). Any signed-in person can create an organisation.
package dashboardorg

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/export/share"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/manage/usage"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/version"
)

// Endpoint paths.
const (
	foundRoute    = "/dashboard/organisations"
	oneRoute      = "/dashboard/organisations/{orgId}"
	overviewRoute = "/dashboard/organisations/{orgId}/{mode}/overview"
	usageRoute    = "/dashboard/organisations/{orgId}/{mode}/usage"
	auditRoute    = "/dashboard/organisations/{orgId}/audit"
	exportRoute   = "/dashboard/organisations/{orgId}/audit/export"
	emailsRoute   = "/dashboard/organisations/{orgId}/emails"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API           *httpapi.API
	Auth          httpapi.SessionAuth
	Founder       Founder
	Accounts      Accounts
	Organisations operator.Organisations
	Notices       operator.NoticeAddresses
	LiveAccess    operator.LiveAccess
	Deletions     operator.Deletions
	Setup         operator.Setup
	Inquiries     operator.Inquiries
	Audit         audit.Log
	Meter         Meter
	Shares        Shares
	// ConcurrentExports is the maximum number of exports that run at the same time in an organisation and mode.
	ConcurrentExports int
	Now               func() time.Time
}

// Shares returns the export slots that a tenant uses; store.Places implements it.
type Shares interface {
	Share(ctx context.Context, tenant org.Tenant) (share.Row, error)
}

// Meter returns a tenant's usage in a month, including the current day; usage.Meter implements it. The month has the
// form 2026-03. Meter returns fault.Invalid if the month is malformed.
type Meter interface {
	Month(ctx context.Context, tenant org.Tenant, month string) (usage.Month, error)
}

// Accounts reads accounts; store.Accounts implements it. It returns fault.NotFound for nonexistent accounts.
type Accounts interface {
	Account(ctx context.Context, id string) (account.Account, error)
}

// Founder creates organisations (members.Service).
type Founder interface {
	// Found creates an organisation whose first owner is the given account.
	Found(ctx context.Context, accountID, name string) (org.Organisation, error)
}

// New returns a handler for the endpoints.
func New(d Deps) http.Handler {
	routes := map[string]httpapi.Methods{
		foundRoute: {http.MethodPost: httpapi.Account(d.Auth, d.found)},
		oneRoute: {
			http.MethodGet:   httpapi.Member(d.Auth, account.View, d.show),
			http.MethodPatch: httpapi.Member(d.Auth, account.Operate, d.change),
		},
		emailsRoute: {
			http.MethodPost: httpapi.Member(d.Auth, account.Operate, d.sendCode),
			http.MethodPut:  httpapi.Member(d.Auth, account.Operate, d.verify),
		},
		overviewRoute: {http.MethodGet: httpapi.Member(d.Auth, account.View, d.overview)},
		usageRoute:    {http.MethodGet: httpapi.Member(d.Auth, account.View, d.usage)},
		auditRoute:    {http.MethodGet: httpapi.Member(d.Auth, account.Manage, d.audit)},
		exportRoute:   {http.MethodGet: httpapi.Member(d.Auth, account.Manage, d.export)},
	}
	maps.Copy(routes, d.inbox())
	maps.Copy(routes, d.deletion())
	maps.Copy(routes, d.liveAccess())
	return d.API.Routes(routes)
}

type nothing struct{}

type founded struct {
	Name string `json:"name" required:"true"`
}

// changed describes changes to an organisation. Omitted fields remain unchanged. An empty URL or purpose deletes the
// stored value.
type changed struct {
	Name    *string  `json:"name"`
	Logo    *string  `json:"logo_uri"`
	Accent  *string  `json:"accent"`
	Radius  radius   `json:"radius"`
	Font    *string  `json:"font"`
	Scheme  *string  `json:"color_scheme"`
	English *string  `json:"purpose"`
	Spanish *string  `json:"purpose_es"`
	Privacy *string  `json:"privacy_policy_uri"`
	Terms   *string  `json:"terms_uri"`
	Website *string  `json:"website_uri"`
	Emails  []string `json:"emails"`
	IfMatch string   `header:"If-Match"`
}

// radius is the raw JSON value of a numeric field, or nil if the field is omitted. A null value resets the setting.
type radius json.RawMessage

// UnmarshalJSON implements json.Unmarshaler. Without this method, null would be indistinguishable from an omitted
// field.
func (r *radius) UnmarshalJSON(value []byte) error {
	*r = bytes.Clone(value)
	return nil
}

// setting converts the value to the form that operator.OrganisationChange requires.
func (r radius) setting() *string {
	switch text := string(r); text {
	case "":
		return nil
	case "null":
		return new(string)
	default:
		return &text
	}
}

func (d Deps) found(ctx context.Context, v httpapi.Visitor, in founded) (organisation, error) {
	made, err := d.Founder.Found(ctx, v.Account, in.Name)
	if err != nil {
		return organisation{}, err
	}
	return organisationOf(made, account.Owner), nil
}

func (d Deps) show(ctx context.Context, v httpapi.Visitor, _ nothing) (organisation, error) {
	found, err := d.Organisations.Show(ctx, liveTenant(v))
	if err != nil {
		return organisation{}, err
	}
	return organisationOf(found, v.Role), nil
}

func (d Deps) change(ctx context.Context, v httpapi.Visitor, in changed) (organisation, error) {
	from, err := version.Parse(in.IfMatch)
	if err != nil {
		return organisation{}, err
	}
	as := d.Organisations.As(account.Actor(v.Account))
	to := operator.OrganisationChange{
		Name: in.Name, Logo: in.Logo, Accent: in.Accent, Radius: in.Radius.setting(), Font: in.Font,
		ColorScheme: in.Scheme, PurposeEN: in.English, PurposeES: in.Spanish,
		Privacy: in.Privacy, Terms: in.Terms, Website: in.Website, Emails: in.Emails, From: from,
	}
	if in.Emails != nil {
		var who account.Account
		if who, err = d.Accounts.Account(ctx, v.Account); err != nil {
			return organisation{}, fmt.Errorf("read account: %w", err)
		}
		to.OwnAddress = who.Email
	}
	changed, err := as.ChangeOwn(ctx, liveTenant(v), to)
	if err != nil {
		return organisation{}, err
	}
	return organisationOf(changed, v.Role), nil
}

// liveTenant returns the organisation's live tenant, for data that does not depend on the mode.
func liveTenant(v httpapi.Visitor) org.Tenant { return org.Tenant{Mode: org.Live, OrgID: v.Org} }
