package dashboardorg

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// liveRoute is the path of the live access endpoints (docs/adr/0039-live-mode-is-granted.md).
const liveRoute = "/dashboard/organisations/{orgId}/live-access"

func (d Deps) liveAccess() map[string]httpapi.Methods {
	return map[string]httpapi.Methods{liveRoute: {
		http.MethodGet:  httpapi.Member(d.Auth, account.View, d.showLiveAccess),
		http.MethodPost: httpapi.Member(d.Auth, account.Own, d.requestLiveAccess),
	}}
}

type liveRequest struct {
	Purpose       string `json:"purpose" required:"true"`
	TermsAccepted bool   `json:"terms_accepted"`
}

type liveAccess struct {
	Stage       string      `json:"stage"`
	Checklist   []checklist `json:"checklist"`
	Purpose     string      `json:"purpose,omitempty"`
	RequestedAt string      `json:"requested_at,omitempty"` // RFC 3339 time
	Reason      string      `json:"reason,omitempty"`       // reason for a refusal or withdrawal
	DecidedAt   string      `json:"decided_at,omitempty"`   // RFC 3339 time
}

func (d Deps) showLiveAccess(ctx context.Context, v httpapi.Visitor, _ nothing) (liveAccess, error) {
	found, err := d.Organisations.Show(ctx, liveTenant(v))
	if err != nil {
		return liveAccess{}, err
	}
	return d.liveAccessOf(ctx, found)
}

func (d Deps) requestLiveAccess(ctx context.Context, v httpapi.Visitor, in liveRequest) (liveAccess, error) {
	if !in.TermsAccepted {
		return liveAccess{}, fault.BadRequest("terms_accepted must be true.").About("terms_accepted")
	}
	requested, err := d.LiveAccess.As(account.Actor(v.Account)).Request(ctx, liveTenant(v), v.Account, in.Purpose)
	if err != nil {
		return liveAccess{}, err
	}
	return d.liveAccessOf(ctx, requested)
}

func (d Deps) liveAccessOf(ctx context.Context, o org.Organisation) (liveAccess, error) {
	checks, err := d.LiveAccess.Checklist(ctx, o)
	if err != nil {
		return liveAccess{}, err
	}
	review := o.LiveReview
	shown := liveAccess{
		Stage: string(o.LiveAccess), Checklist: make([]checklist, 0, len(checks)),
		Purpose: review.Purpose, RequestedAt: timestamp.Of(review.RequestedAt), Reason: review.Reason,
		DecidedAt: timestamp.Of(review.DecidedAt),
	}
	for _, c := range checks {
		shown.Checklist = append(shown.Checklist, checklist{Step: string(c.Step), Done: c.Done})
	}
	return shown, nil
}
