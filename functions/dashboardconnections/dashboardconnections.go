// Package dashboardconnections serves /dashboard/organisations/{orgId}/{mode}/connections, requests and sign-ins
// (docs/openapi.yaml). The endpoints return the status and history of patients' connections. The responses explain why
// a connection ended and how to restore it. The endpoints can also disconnect and erase connections, and list the
// organisation's API requests and sign-in attempts of the last 30 days. The dashboard's pages call these endpoints.
// Each route declares the role that it requires (docs/adr/0036-the-dashboard.md). Responses don't contain patients'
// identities or the contents of records.
package dashboardconnections

import (
	"context"
	"errors"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/timestamp"
)

// Endpoint paths.
const (
	listRoute       = "/dashboard/organisations/{orgId}/{mode}/connections"
	oneRoute        = "/dashboard/organisations/{orgId}/{mode}/connections/{connectionId}"
	disconnectRoute = "/dashboard/organisations/{orgId}/{mode}/connections/{connectionId}/disconnect"
	eraseRoute      = "/dashboard/organisations/{orgId}/{mode}/connections/{connectionId}/erase"
	erasureRoute    = "/dashboard/organisations/{orgId}/{mode}/connections/{connectionId}/erasure"
	requestsRoute   = "/dashboard/organisations/{orgId}/{mode}/requests"
	signInsRoute    = "/dashboard/organisations/{orgId}/{mode}/sign-ins"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API          *httpapi.API
	Auth         httpapi.SessionAuth
	Connections  operator.Connections
	Erasures     operator.Erasures
	Disconnector Disconnector
	Log          requestlog.Log
	Endpoints    operator.EndpointReader
	Hashing      []secret.Keyring // every keyring that may have hashed the external IDs in the request log
}

// Disconnector ends connections, records who ended them, and returns the connections' new state. disconnect.Requester
// implements it. Disconnect returns fault.NotFound if the connection does not exist.
type Disconnector interface {
	Disconnect(ctx context.Context, tenant org.Tenant, id, actor string) (connection.Connection, error)
}

// New returns a handler for the endpoints.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		listRoute:       {http.MethodGet: httpapi.Member(d.Auth, account.View, d.list)},
		oneRoute:        {http.MethodGet: httpapi.Member(d.Auth, account.View, d.show)},
		disconnectRoute: {http.MethodPost: httpapi.Member(d.Auth, account.Develop, d.disconnect)},
		eraseRoute:      {http.MethodPost: httpapi.Member(d.Auth, account.Own, d.erase).Proving(account.Erase)},
		erasureRoute:    {http.MethodGet: httpapi.Member(d.Auth, account.Own, d.erasure)},
		requestsRoute:   {http.MethodGet: httpapi.Member(d.Auth, account.View, d.requests)},
		signInsRoute:    {http.MethodGet: httpapi.Member(d.Auth, account.View, d.signIns)},
	})
}

type wanted struct {
	ExternalID string `query:"external_id"`
	BrandID    string `query:"brand_id"`
	PortalID   string `query:"portal_id"`
	EndpointID string `query:"endpoint_id"`
	Status     string `query:"status"`
	Cause      string `query:"cause"`
	From       string `query:"from"`
	To         string `query:"to"`
	Cursor     string `query:"cursor"`
}

type one struct {
	ID string `path:"connectionId"`
}

func (d Deps) list(ctx context.Context, v httpapi.Visitor, in wanted) (connectionList, error) {
	q := operator.ConnectionQuery{
		Paging: operator.Paging{After: in.Cursor}, ExternalID: in.ExternalID, BrandID: in.BrandID, PortalID: in.PortalID,
		EndpointID: in.EndpointID, Status: connection.Status(in.Status), Cause: connection.Cause(in.Cause),
	}
	var err error
	if q.From, q.To, err = span(in.From, in.To); err != nil {
		return connectionList{}, err
	}
	page, err := d.Connections.List(ctx, v.Tenant, q)
	if errors.Is(err, fault.NotFound) {
		return connectionList{}, fault.Missing("Endpoint not found.").Because(err)
	}
	if err != nil {
		return connectionList{}, err
	}
	shown := connectionList{
		Connections: make([]link, 0, len(page.Connections)), Next: page.Next, SearchedTo: timestamp.Of(page.SearchedTo),
	}
	for _, c := range page.Connections {
		shown.Connections = append(shown.Connections, linkOf(c))
	}
	return shown, nil
}

// span parses the limits of a list's times. An empty text means no limit.
func span(fromText, toText string) (from, to time.Time, err error) {
	if from, err = timestamp.Parse(fromText); err == nil {
		to, err = timestamp.Parse(toText)
	}
	if err != nil {
		return from, to, fault.BadRequest("from and to must be RFC 3339 timestamps.").Because(err)
	}
	return from, to, nil
}

func (d Deps) show(ctx context.Context, v httpapi.Visitor, in one) (detail, error) {
	found, err := d.Connections.Show(ctx, v.Tenant, in.ID)
	if err != nil {
		return detail{}, missing(err)
	}
	return detailOf(found), nil
}

func (d Deps) disconnect(ctx context.Context, v httpapi.Visitor, in one) (detail, error) {
	id, ok := ids.ParseUUID(in.ID)
	if !ok {
		return detail{}, missing(connection.Missing())
	}
	if _, err := d.Disconnector.Disconnect(ctx, v.Tenant, id, account.Actor(v.Account)); err != nil {
		return detail{}, missing(err)
	}
	return d.show(ctx, v, in)
}

// erase requests that a connection be erased. Repeating the request returns the erasure's status.
func (d Deps) erase(ctx context.Context, v httpapi.Visitor, in one) (erasure, error) {
	e, err := d.Erasures.As(account.Actor(v.Account)).Request(ctx, v.Tenant, in.ID)
	if err != nil {
		return erasure{}, missing(err)
	}
	return erasureOf(e), nil
}

func (d Deps) erasure(ctx context.Context, v httpapi.Visitor, in one) (erasure, error) {
	e, err := d.Erasures.Show(ctx, v.Tenant, in.ID)
	if err != nil {
		return erasure{}, missing(err)
	}
	return erasureOf(e), nil
}

// missing replaces fault.NotFound with the error that clients receive for a nonexistent connection. Other errors are
// returned unchanged.
func missing(err error) error {
	if errors.Is(err, fault.NotFound) {
		return fault.Missing("Connection not found.").Because(err)
	}
	return err
}
