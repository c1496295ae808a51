// Package dashboarddeliveries serves /dashboard/organisations/{orgId}/{mode}/deliveries (docs/openapi.yaml). The
// endpoints list the webhook deliveries of the last 15 days with all their attempts. The endpoints can also resend
// deliveries. The dashboard's pages call these endpoints. Each route declares the role that it requires. The bodies and
// headers of requests and responses are visible only to members whose role allows inspection
// (docs/adr/0036-the-dashboard.md).
package dashboarddeliveries

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// Endpoint paths.
const (
	listRoute   = "/dashboard/organisations/{orgId}/{mode}/deliveries"
	oneRoute    = "/dashboard/organisations/{orgId}/{mode}/deliveries/{deliveryId}"
	replayRoute = "/dashboard/organisations/{orgId}/{mode}/deliveries/{deliveryId}/replay"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API        *httpapi.API
	Auth       httpapi.SessionAuth
	Log        operator.Log
	Deliveries operator.Deliveries
	Patients   Patients
}

// Patients returns the organisation's IDs of its patients by connection ID; store.ExternalIDs implements it. The result
// omits connections without such an ID.
type Patients interface {
	Of(ctx context.Context, tenant org.Tenant, connectionIDs []string) (map[string]string, error)
}

// New returns a handler for the endpoints.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		listRoute:   {http.MethodGet: httpapi.Member(d.Auth, account.View, d.list)},
		oneRoute:    {http.MethodGet: httpapi.Member(d.Auth, account.View, d.show)},
		replayRoute: {http.MethodPost: httpapi.Member(d.Auth, account.Develop, d.replay)},
	})
}

type wanted struct {
	WebhookID string `query:"webhook_id"`
	EventID   string `query:"event_id"`
	Type      string `query:"type"`
	Status    string `query:"status"`
	Subject   string `query:"subject"`
	From      string `query:"from"`
	To        string `query:"to"`
	Cursor    string `query:"cursor"`
}

type one struct {
	ID string `path:"deliveryId"`
}

func (d Deps) list(ctx context.Context, v httpapi.Visitor, in wanted) (deliveryList, error) {
	q, err := in.query()
	if err != nil {
		return deliveryList{}, err
	}
	page, err := d.Log.Search(ctx, v.Tenant, q)
	if err != nil {
		return deliveryList{}, err
	}
	shown := deliveryList{
		Deliveries: make([]delivery, 0, len(page.Entries)), Next: page.Next, SearchedTo: timestamp.Of(page.SearchedTo),
	}
	patients, err := d.patients(ctx, v.Tenant, page.Entries)
	for _, e := range page.Entries {
		shown.Deliveries = append(shown.Deliveries, deliveryOf(e, patients))
	}
	return shown, err
}

// patients returns the external IDs of the connections that the deliveries are about.
func (d Deps) patients(ctx context.Context, tenant org.Tenant, of []deliverylog.Entry) (map[string]string, error) {
	connections := make([]string, 0, len(of))
	for _, e := range of {
		if id, ok := ids.ParseUUID(e.ConnectionID); ok && id == e.ConnectionID {
			connections = append(connections, id)
		}
	}
	slices.Sort(connections)
	found, err := d.Patients.Of(ctx, tenant, slices.Compact(connections))
	if err != nil {
		return nil, fmt.Errorf("read external IDs: %w", err)
	}
	return found, nil
}

func (d Deps) show(ctx context.Context, v httpapi.Visitor, in one) (detail, error) {
	found, err := d.Log.Show(ctx, v.Tenant, in.ID)
	if err != nil {
		return detail{}, missing(err)
	}
	patients, err := d.patients(ctx, v.Tenant, []deliverylog.Entry{found.Entry})
	return detailOf(found, patients, v.Role.May(account.Inspect)), err
}

func (d Deps) replay(ctx context.Context, v httpapi.Visitor, in one) (detail, error) {
	if err := d.Deliveries.As(account.Actor(v.Account)).Replay(ctx, v.Tenant, in.ID); err != nil {
		return detail{}, missing(err)
	}
	return d.show(ctx, v, in)
}

func (in wanted) query() (deliverylog.Query, error) {
	q := deliverylog.Query{
		ID: in.EventID, SubscriptionID: in.WebhookID, Status: webhook.DeliveryStatus(in.Status), Subject: in.Subject,
		After: in.Cursor,
	}
	if in.Type != "" {
		var ok bool
		if q.Type, ok = webhook.ParseType(in.Type); !ok {
			return q, fault.BadRequest("type must be a known event type.").About("type")
		}
	}
	if id, ok := ids.ParseUUID(in.Subject); ok {
		q.Subject = id
	}
	var err error
	if q.From, err = timestamp.Parse(in.From); err == nil {
		q.To, err = timestamp.Parse(in.To)
	}
	if err != nil {
		return q, fault.BadRequest("from and to must be RFC 3339 timestamps.").Because(err)
	}
	return q, nil
}

// missing replaces fault.NotFound with the error that clients receive for a nonexistent delivery. Other errors are
// returned unchanged.
func missing(err error) error {
	if errors.Is(err, fault.NotFound) {
		return fault.Missing("Delivery not found.").Because(err)
	}
	return err
}
