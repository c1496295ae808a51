package dashboardconnections

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// logged holds the filters that both lists of the request log have.
type logged struct {
	requestID, connectionID, externalID, from, to, cursor string
}

type wantedRequests struct {
	Status       string `query:"status"`
	Route        string `query:"route"`
	PublicID     string `query:"public_id"`
	RequestID    string `query:"request_id"`
	ConnectionID string `query:"connection_id"`
	ExternalID   string `query:"external_id"`
	From         string `query:"from"`
	To           string `query:"to"`
	Cursor       string `query:"cursor"`
}

type wantedSignIns struct {
	Outcome      string `query:"outcome"`
	Cause        string `query:"cause"`
	RequestID    string `query:"request_id"`
	ConnectionID string `query:"connection_id"`
	ExternalID   string `query:"external_id"`
	From         string `query:"from"`
	To           string `query:"to"`
	Cursor       string `query:"cursor"`
}

type requestList struct {
	Requests []request `json:"requests"` // newest first
	Next     string    `json:"next,omitempty"`
}

// request represents an API request. Empty fields are omitted. Times are in RFC 3339 format.
type request struct {
	ID           string `json:"request_id"`
	At           string `json:"at"`
	Method       string `json:"method"`
	Route        string `json:"route"`
	Status       int    `json:"status"`
	Error        string `json:"error,omitempty"`
	PublicID     string `json:"public_id"`
	LatencyMS    int64  `json:"latency_ms"`
	ConnectionID string `json:"org_connection_id,omitempty"`
	TaskID       string `json:"task_id,omitempty"`
}

type signInList struct {
	SignIns []signIn `json:"sign_ins"` // newest first
	Next    string   `json:"next,omitempty"`
}

// signIn represents a finished sign-in attempt. Empty fields are omitted. Times are in RFC 3339 format.
type signIn struct {
	AttemptID    string `json:"attempt_id"`
	At           string `json:"at"`
	Kind         string `json:"kind"`
	Outcome      string `json:"outcome"`
	Cause        string `json:"cause,omitempty"`
	RequestID    string `json:"request_id"`
	BrandID      string `json:"brand_id,omitempty"`
	PortalID     string `json:"portal_id,omitempty"`
	EndpointID   string `json:"endpoint_id,omitempty"`
	Endpoint     string `json:"endpoint_name,omitempty"`
	DirectoryID  string `json:"tefca_directory_id,omitempty"`
	DurationMS   int64  `json:"duration_ms"`
	ConnectionID string `json:"org_connection_id,omitempty"`
}

func (d Deps) requests(ctx context.Context, v httpapi.Visitor, in wantedRequests) (requestList, error) {
	q := requestlog.RequestQuery{Status: in.Status, Route: in.Route}
	var err error
	if q.Query, err = d.query(v.Tenant, logged{
		in.RequestID, in.ConnectionID, in.ExternalID, in.From, in.To, in.Cursor,
	}); err != nil {
		return requestList{}, err
	}
	if in.PublicID != "" {
		var ok bool
		if q.CredentialID, _, ok = org.ParsePublicID(in.PublicID); !ok {
			return requestList{}, fault.BadRequest("public_id must be a public ID.").About("public_id")
		}
	}
	page, err := d.Log.Requests(ctx, v.Tenant, q)
	if err != nil {
		return requestList{}, err
	}
	shown := requestList{Requests: make([]request, 0, len(page.Rows)), Next: page.Next}
	for _, r := range page.Rows {
		shown.Requests = append(shown.Requests, request{
			ID: r.ID, At: timestamp.Of(r.At), Method: r.Method, Route: r.Route, Status: r.Status, Error: r.Error,
			PublicID:  org.Credential{ID: r.CredentialID, Tenant: r.Tenant}.PublicID(),
			LatencyMS: r.Latency.Milliseconds(), ConnectionID: r.ConnectionID, TaskID: r.TaskID,
		})
	}
	return shown, nil
}

func (d Deps) signIns(ctx context.Context, v httpapi.Visitor, in wantedSignIns) (signInList, error) {
	q := requestlog.SignInQuery{Outcome: requestlog.Outcome(in.Outcome), Cause: in.Cause}
	var err error
	if q.Query, err = d.query(v.Tenant, logged{
		in.RequestID, in.ConnectionID, in.ExternalID, in.From, in.To, in.Cursor,
	}); err != nil {
		return signInList{}, err
	}
	page, err := d.Log.SignIns(ctx, v.Tenant, q)
	if err != nil {
		return signInList{}, err
	}
	shown, names := signInList{SignIns: make([]signIn, 0, len(page.Rows)), Next: page.Next}, map[string]string{}
	for _, a := range page.Rows {
		if err := d.name(ctx, a.EndpointID, names); err != nil {
			return signInList{}, err
		}
		shown.SignIns = append(shown.SignIns, signIn{
			AttemptID: a.AttemptID, At: timestamp.Of(a.At), Kind: string(a.Kind), Outcome: string(a.Outcome), Cause: a.Cause,
			RequestID: a.RequestID, BrandID: a.BrandID, PortalID: a.PortalID, EndpointID: a.EndpointID,
			Endpoint: names[a.EndpointID], DirectoryID: a.DirectoryID, DurationMS: a.Duration.Milliseconds(),
			ConnectionID: a.ConnectionID,
		})
	}
	return shown, nil
}

// name adds an endpoint's name to names. An endpoint that no longer exists has an empty name.
func (d Deps) name(ctx context.Context, id string, names map[string]string) error {
	if _, isKnown := names[id]; isKnown || id == "" {
		return nil
	}
	e, err := d.Endpoints.Endpoint(ctx, id)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return fmt.Errorf("read endpoint: %w", err)
	}
	names[id] = e.Name
	return nil
}

func (d Deps) query(tenant org.Tenant, in logged) (requestlog.Query, error) {
	q := requestlog.Query{RequestID: in.requestID, ConnectionID: in.connectionID, After: in.cursor}
	if in.externalID != "" {
		q.External = requestlog.Marks(tenant, in.externalID, d.Hashing...)
	}
	var err error
	if q.From, q.To, err = span(in.from, in.to); err != nil {
		return requestlog.Query{}, err
	}
	return q, nil
}
