package dashboardorg

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/words/timestamp"
)

const deletionRoute = "/dashboard/organisations/{orgId}/deletion"

func (d Deps) deletion() map[string]httpapi.Methods {
	return map[string]httpapi.Methods{deletionRoute: {
		http.MethodGet:    httpapi.Member(d.Auth, account.View, d.showDeletion),
		http.MethodPost:   httpapi.Member(d.Auth, account.Own, d.requestDeletion).Proving(account.Erase),
		http.MethodDelete: httpapi.Member(d.Auth, account.Own, d.cancelDeletion),
	}}
}

type deleted struct {
	Name string `json:"name" required:"true"` // organisation's name, which confirms the deletion
}

type deletionView struct {
	Stage       string `json:"stage"`
	RequestedAt string `json:"requested_at"` // RFC 3339 time
	BeginsAt    string `json:"begins_at"`    // RFC 3339 time
	CanCancel   bool   `json:"can_cancel"`
}

func (d Deps) showDeletion(ctx context.Context, v httpapi.Visitor, _ nothing) (deletionView, error) {
	return d.viewOf(d.Deletions.Show(ctx, liveTenant(v)))
}

func (d Deps) requestDeletion(ctx context.Context, v httpapi.Visitor, in deleted) (deletionView, error) {
	return d.viewOf(d.Deletions.As(account.Actor(v.Account)).Request(ctx, liveTenant(v), in.Name))
}

func (d Deps) cancelDeletion(ctx context.Context, v httpapi.Visitor, _ nothing) (httpapi.NoData, error) {
	return httpapi.NoData{}, d.Deletions.As(account.Actor(v.Account)).Cancel(ctx, liveTenant(v))
}

func (d Deps) viewOf(found deletion.Deletion, err error) (deletionView, error) {
	return deletionView{
		Stage: string(found.Stage), RequestedAt: timestamp.Of(found.RequestedAt),
		BeginsAt:  timestamp.Of(found.BeginsAt),
		CanCancel: found.CanCancel(d.Now()),
	}, err
}
