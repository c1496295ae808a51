package dashboardorg

import (
	"context"

	"recordbridge/shared/deliverylog"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/operator"
	"recordbridge/shared/timestamp"
	"recordbridge/shared/webhook"
)

// overview is how an organisation fares in a mode.
type overview struct {
	Credentials int         `json:"credentials"`
	Webhooks    int         `json:"webhooks"`
	Failing     []failing   `json:"failing_webhooks"`
	Checklist   []checklist `json:"checklist"` // in the order in which it is done
}

type failing struct {
	ID       string `json:"webhook_id"`
	URL      string `json:"url"`
	Failures int    `json:"failures"`
	Since    string `json:"since"` // RFC 3339
	Disabled bool   `json:"disabled"`
}

type checklist struct {
	Step string `json:"step"`
	Done bool   `json:"done"`
}

func (d Deps) overview(ctx context.Context, v httpapi.Visitor, _ nothing) (overview, error) {
	credentials, err := d.Operator.Credentials.List(ctx, v.Tenant)
	if err != nil {
		return overview{}, err
	}
	hooks, err := d.Operator.Webhooks.List(ctx, v.Tenant)
	if err != nil {
		return overview{}, err
	}
	delivered, err := d.Operator.Log.Search(ctx, v.Tenant, deliverylog.Query{Status: webhook.Delivered, Limit: 1})
	if err != nil {
		return overview{}, err
	}
	isConnected, err := d.Operator.Connections.Any(ctx, v.Tenant)
	if err != nil {
		return overview{}, err
	}
	exports, err := d.Operator.Exports.List(ctx, v.Tenant, operator.ExportQuery{Paging: operator.Paging{Limit: 1}})
	if err != nil {
		return overview{}, err
	}
	shown := overview{Credentials: len(credentials), Webhooks: len(hooks), Failing: []failing{}}
	hasRedirect := false
	for _, c := range credentials {
		hasRedirect = hasRedirect || len(c.RedirectURIs) > 0
	}
	for _, s := range hooks {
		if s.Disabled || s.Health.Failures > 0 {
			since := s.Health.FailingSince
			if since.IsZero() {
				since = s.DisabledAt
			}
			shown.Failing = append(shown.Failing, failing{
				ID: s.ID, URL: s.URL, Failures: s.Health.Failures, Since: timestamp.Of(since), Disabled: s.Disabled,
			})
		}
	}
	shown.Checklist = []checklist{
		{Step: "credential_made", Done: len(credentials) > 0},
		{Step: "redirect_registered", Done: hasRedirect},
		{Step: "webhook_made", Done: len(hooks) > 0},
		{Step: "webhook_verified", Done: len(delivered.Entries) > 0},
		{Step: "first_connection", Done: isConnected},
		{Step: "first_export", Done: len(exports.Exports) > 0},
	}
	return shown, nil
}
