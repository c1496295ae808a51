package dashboardorg

import (
	"context"
	"fmt"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/timestamp"
)

// overview summarises an organisation's setup status in one mode.
type overview struct {
	Credentials int         `json:"credentials"`
	Webhooks    int         `json:"webhooks"`
	Failing     []failing   `json:"failing_webhooks"`
	Checklist   []checklist `json:"checklist"` // setup steps in order
	Limits      []limit     `json:"limits"`
}

type limit struct {
	Name  string `json:"name"` // concurrent_exports or webhooks
	Used  int    `json:"used"`
	Limit int    `json:"limit"`
}

type failing struct {
	ID       string `json:"webhook_id"`
	URL      string `json:"url"`
	Failures int    `json:"failures"`
	Since    string `json:"since"` // RFC 3339 time
	Disabled bool   `json:"disabled"`
}

type checklist struct {
	Step string `json:"step"`
	Done bool   `json:"done"`
}

func (d Deps) overview(ctx context.Context, v httpapi.Visitor, _ nothing) (overview, error) {
	found, err := d.Setup.Show(ctx, v.Tenant)
	if err != nil {
		return overview{}, err
	}
	shown := overview{Credentials: len(found.Credentials), Webhooks: len(found.Webhooks), Failing: []failing{}}
	hasRedirect := false
	for _, c := range found.Credentials {
		hasRedirect = hasRedirect || len(c.RedirectURIs) > 0
	}
	for _, s := range found.Webhooks {
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
	running, err := d.Shares.Share(ctx, v.Tenant)
	if err != nil {
		return overview{}, fmt.Errorf("read running exports: %w", err)
	}
	shown.Limits = []limit{
		{Name: "concurrent_exports", Used: running.Running(d.Now()), Limit: d.ConcurrentExports},
		{Name: "webhooks", Used: len(found.Webhooks), Limit: operator.MaxWebhooks},
	}
	shown.Checklist = []checklist{
		{Step: "credential_made", Done: len(found.Credentials) > 0},
		{Step: "redirect_registered", Done: hasRedirect},
		{Step: "webhook_made", Done: len(found.Webhooks) > 0},
		{Step: "webhook_verified", Done: found.HasDelivered},
		{Step: "first_connection", Done: found.HasConnected},
		{Step: "first_export", Done: found.HasExported},
	}
	return shown, nil
}
