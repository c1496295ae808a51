// Package dashboardwebhooks serves /dashboard/organisations/{orgId}/{mode}/webhooks and …/webhook-types
// (docs/openapi.yaml). The endpoints manage an organisation's webhooks and their signing secrets, and send test events.
// The dashboard's pages call these endpoints. Each route declares the role that it requires
// (docs/adr/0036-the-dashboard.md). Only two responses contain a signing secret: the one that creates the secret, and
// one that requires a recent proof of identity. Header values never appear in responses.
package dashboardwebhooks

import (
	"context"
	"errors"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/version"
)

// Endpoint paths.
const (
	listRoute       = "/dashboard/organisations/{orgId}/{mode}/webhooks"
	oneRoute        = "/dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}"
	revealRoute     = "/dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/secret/reveal"
	rotateRoute     = "/dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/secret/rotate"
	signingKeyRoute = "/dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/signing-key"
	disableRoute    = "/dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/disable"
	enableRoute     = "/dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/enable"
	simulateRoute   = "/dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/simulate"
	replayRoute     = "/dashboard/organisations/{orgId}/{mode}/webhooks/{webhookId}/replay"
	typesRoute      = "/dashboard/organisations/{orgId}/{mode}/webhook-types"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API        *httpapi.API
	Auth       httpapi.SessionAuth
	Webhooks   operator.Webhooks
	Deliveries operator.Deliveries
}

// New returns a handler for the endpoints.
func New(d Deps) http.Handler {
	read := func(e httpapi.Endpoint) httpapi.Methods { return httpapi.Methods{http.MethodGet: e} }
	act := func(e httpapi.Endpoint) httpapi.Methods { return httpapi.Methods{http.MethodPost: e} }
	return d.API.Routes(map[string]httpapi.Methods{
		listRoute: {
			http.MethodGet:  httpapi.Member(d.Auth, account.View, d.list),
			http.MethodPost: httpapi.Member(d.Auth, account.Develop, d.create).Proving(account.AddWebhook),
		},
		oneRoute: {
			http.MethodGet:    httpapi.Member(d.Auth, account.View, d.show),
			http.MethodPatch:  httpapi.Member(d.Auth, account.Develop, d.change),
			http.MethodDelete: httpapi.Member(d.Auth, account.Develop, d.remove),
		},
		signingKeyRoute: {
			http.MethodPost:   httpapi.Member(d.Auth, account.Develop, d.sign),
			http.MethodDelete: httpapi.Member(d.Auth, account.Develop, d.unsign),
		},
		revealRoute:   act(httpapi.Member(d.Auth, account.Develop, d.reveal).Proving(account.RevealSecret)),
		rotateRoute:   act(httpapi.Member(d.Auth, account.Develop, d.rotate).Proving(account.RotateSecret)),
		disableRoute:  act(httpapi.Member(d.Auth, account.Develop, d.disable)),
		enableRoute:   act(httpapi.Member(d.Auth, account.Develop, d.enable)),
		simulateRoute: act(httpapi.Member(d.Auth, account.Develop, d.simulate)),
		replayRoute:   act(httpapi.Member(d.Auth, account.Develop, d.replay)),
		typesRoute:    read(httpapi.Member(d.Auth, account.View, types)),
	})
}

type nothing struct{}

type one struct {
	ID string `path:"webhookId"`
}

type made struct {
	URL        string            `json:"url" required:"true"`
	Types      []string          `json:"types"` // nil selects the default types
	Headers    map[string]string `json:"headers"`
	Rate       int               `json:"rate"`
	Note       string            `json:"note"`
	SigningKey bool              `json:"signing_key"`
}

type changed struct {
	ID      string            `path:"webhookId"`
	URL     *string           `json:"url"`
	Types   []string          `json:"types"`
	Headers map[string]string `json:"headers"`
	Rate    *int              `json:"rate"`
	Note    *string           `json:"note"`
	IfMatch string            `header:"If-Match"`
}

func (d Deps) as(v httpapi.Visitor) operator.Webhooks {
	return d.Webhooks.As(account.Actor(v.Account))
}

// sending returns an operator.Deliveries that replays deliveries and sends simulated events on behalf of a member.
func (d Deps) sending(v httpapi.Visitor) operator.Deliveries {
	return d.Deliveries.As(account.Actor(v.Account))
}

func (d Deps) list(ctx context.Context, v httpapi.Visitor, _ nothing) (hookList, error) {
	all, err := d.as(v).List(ctx, v.Tenant)
	if err != nil {
		return hookList{}, err
	}
	shown := hookList{Webhooks: make([]hook, 0, len(all))}
	for _, s := range all {
		shown.Webhooks = append(shown.Webhooks, hookOf(s))
	}
	return shown, nil
}

func (d Deps) show(ctx context.Context, v httpapi.Visitor, in one) (hook, error) {
	return shown(d.as(v).Show(ctx, v.Tenant, in.ID))
}

func (d Deps) create(ctx context.Context, v httpapi.Visitor, in made) (newHook, error) {
	optional, err := parseTypes(in.Types)
	if err != nil {
		return newHook{}, err
	}
	if in.Types == nil {
		optional = webhook.Default()
	}
	s, signing, err := d.as(v).Create(ctx, webhook.Draft{
		Tenant: v.Tenant, URL: in.URL, Note: in.Note, Optional: optional, SigningKey: in.SigningKey, Headers: in.Headers,
		Rate: in.Rate,
	})
	if err != nil {
		return newHook{}, err
	}
	return newHook{Webhook: hookOf(s), Secret: signing.Reveal()}, nil
}

func (d Deps) change(ctx context.Context, v httpapi.Visitor, in changed) (hook, error) {
	optional, err := parseTypes(in.Types)
	if err != nil {
		return hook{}, err
	}
	from, err := version.Parse(in.IfMatch)
	if err != nil {
		return hook{}, err
	}
	if in.URL, err = d.moved(ctx, v, in); err != nil {
		return hook{}, missing(err)
	}
	return shown(d.as(v).Change(ctx, v.Tenant, in.ID, operator.WebhookChange{
		URL: in.URL, Optional: optional, From: from,
		Edit: webhook.Edit{Headers: in.Headers, Rate: in.Rate, Note: in.Note, SigningKey: nil},
	}))
}

// moved returns a webhook's new URL, or nil if the URL is unchanged. Changing the URL requires a recent proof of
// identity.
func (d Deps) moved(ctx context.Context, v httpapi.Visitor, in changed) (*string, error) {
	if in.URL == nil {
		return nil, nil //nolint:nilnil // a URL that stays is no error
	}
	found, err := d.as(v).Show(ctx, v.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if found.URL == *in.URL {
		return nil, nil //nolint:nilnil // as above
	}
	return in.URL, v.Prove(account.MoveWebhook)
}

func (d Deps) remove(ctx context.Context, v httpapi.Visitor, in one) (httpapi.NoData, error) {
	return httpapi.NoData{}, missing(d.as(v).Remove(ctx, v.Tenant, in.ID))
}

func (d Deps) sign(ctx context.Context, v httpapi.Visitor, in one) (hook, error) {
	return d.signed(ctx, v, in, true)
}

func (d Deps) unsign(ctx context.Context, v httpapi.Visitor, in one) (hook, error) {
	return d.signed(ctx, v, in, false)
}

func (d Deps) signed(ctx context.Context, v httpapi.Visitor, in one, isSigned bool) (hook, error) {
	return shown(d.as(v).Change(ctx, v.Tenant, in.ID, operator.WebhookChange{Edit: webhook.Edit{SigningKey: &isSigned}}))
}

// parseTypes parses the names of event types, preserving nil.
func parseTypes(names []string) ([]webhook.Type, error) {
	if names == nil {
		return nil, nil
	}
	all := make([]webhook.Type, 0, len(names))
	for _, name := range names {
		t, ok := webhook.ParseType(name)
		if !ok {
			return nil, fault.BadRequest("types must contain only known event types.").About("types")
		}
		all = append(all, t)
	}
	return all, nil
}

// shown renders a webhook for the dashboard.
func shown(s webhook.Subscription, err error) (hook, error) {
	if err != nil {
		return hook{}, missing(err)
	}
	return hookOf(s), nil
}

// missing replaces fault.NotFound with the error that clients receive for a nonexistent webhook. Other errors are
// returned unchanged.
func missing(err error) error {
	if errors.Is(err, fault.NotFound) {
		return fault.Missing("Webhook not found.").Because(err)
	}
	return err
}
