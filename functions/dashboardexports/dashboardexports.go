// Package dashboardexports serves /dashboard/organisations/{orgId}/{mode}/exports (docs/openapi.yaml). The endpoints
// return each export's status, its resource counts by type, and the reasons for missing parts. The dashboard's pages
// call these endpoints, and every member has access. The endpoints are read-only. Responses don't contain record
// contents or links to files.
package dashboardexports

import (
	"context"
	"errors"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
)

// Endpoint paths.
const (
	listRoute = "/dashboard/organisations/{orgId}/{mode}/exports"
	oneRoute  = "/dashboard/organisations/{orgId}/{mode}/exports/{taskId}"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.SessionAuth
	Exports operator.Exports
}

// New returns a handler for the endpoints.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		listRoute: {http.MethodGet: httpapi.Member(d.Auth, account.View, d.list)},
		oneRoute:  {http.MethodGet: httpapi.Member(d.Auth, account.View, d.show)},
	})
}

type wanted struct {
	ConnectionID string `query:"connection_id"`
	Status       string `query:"status"`
	Cursor       string `query:"cursor"`
}

type one struct {
	ID string `path:"taskId"`
}

func (d Deps) list(ctx context.Context, v httpapi.Visitor, in wanted) (taskList, error) {
	page, err := d.Exports.List(ctx, v.Tenant, operator.ExportQuery{
		Paging: operator.Paging{After: in.Cursor}, ConnectionID: in.ConnectionID, Status: export.Status(in.Status),
	})
	if errors.Is(err, fault.NotFound) {
		return taskList{}, fault.Missing("Connection not found.").Because(err)
	}
	if err != nil {
		return taskList{}, err
	}
	shown := taskList{Exports: make([]task, 0, len(page.Exports)), Next: page.Next}
	for _, e := range page.Exports {
		shown.Exports = append(shown.Exports, taskOf(e))
	}
	return shown, nil
}

func (d Deps) show(ctx context.Context, v httpapi.Visitor, in one) (detail, error) {
	e, err := d.Exports.Show(ctx, v.Tenant, in.ID)
	if errors.Is(err, fault.NotFound) {
		return detail{}, export.Missing()
	}
	if err != nil {
		return detail{}, err
	}
	return detailOf(e), nil
}
