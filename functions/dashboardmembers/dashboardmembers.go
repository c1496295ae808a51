// Package dashboardmembers serves /dashboard/organisations/{orgId}/members and …/invitations, and POST
// /dashboard/invitations (docs/openapi.yaml). The endpoints manage an organisation's members, their roles and
// invitations. The dashboard's pages call these endpoints. Each route declares the role that it requires
// (docs/adr/0036-the-dashboard.md).
package dashboardmembers

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/timestamp"
	"recordbridge/shared/words/version"
)

// Endpoint paths.
const (
	membersRoute     = "/dashboard/organisations/{orgId}/members"
	memberRoute      = "/dashboard/organisations/{orgId}/members/{accountId}"
	invitationsRoute = "/dashboard/organisations/{orgId}/invitations"
	invitationRoute  = "/dashboard/organisations/{orgId}/invitations/{invitationId}"
	recoveryRoute    = "/dashboard/organisations/{orgId}/members/{accountId}/recovery"
	acceptRoute      = "/dashboard/invitations"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.SessionAuth
	Service Service
}

// Service manages members and invitations; members.Service implements it.
type Service interface {
	List(ctx context.Context, orgID string) ([]members.Member, error)
	Change(ctx context.Context, by members.By, orgID string, to members.RoleChange) error
	Remove(ctx context.Context, by members.By, orgID, accountID string) error
	Invite(ctx context.Context, by members.By, orgID, email string, role account.Role) (account.Invitation, error)
	Invitations(ctx context.Context, orgID string) ([]account.Invitation, error)
	Withdraw(ctx context.Context, by members.By, orgID, id string) error
	StopRecovery(ctx context.Context, by members.By, orgID, accountID string) error
	Accept(ctx context.Context, accountID string, token secret.Text) (account.Membership, error)
}

// New returns a handler for the endpoints.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		membersRoute: {http.MethodGet: httpapi.Member(d.Auth, account.View, d.list)},
		memberRoute: {
			http.MethodPatch:  httpapi.Member(d.Auth, account.Manage, d.change).Proving(account.ChangeMembers),
			http.MethodDelete: httpapi.Member(d.Auth, account.Manage, d.remove).Proving(account.ChangeMembers),
		},
		invitationsRoute: {
			http.MethodGet:  httpapi.Member(d.Auth, account.Manage, d.invitations),
			http.MethodPost: httpapi.Member(d.Auth, account.Manage, d.invite).Proving(account.ChangeMembers),
		},
		invitationRoute: {http.MethodDelete: httpapi.Member(d.Auth, account.Manage,
			d.withdraw).Proving(account.ChangeMembers)},
		recoveryRoute: {http.MethodDelete: httpapi.Member(d.Auth, account.Own, d.stopRecovery)},
		acceptRoute:   {http.MethodPost: httpapi.Account(d.Auth, d.accept)},
	})
}

type nothing struct{}

type member struct {
	httpapi.Versioned

	AccountID string `json:"account_id"`
	Email     string `json:"email"`
	Role      string `json:"role"`
	Since     string `json:"since"`                 // RFC 3339 time
	Recovers  string `json:"recovers_at,omitempty"` // RFC 3339 time; set only while an account recovery is pending
}

type memberList struct {
	Members []member `json:"members"`
}

type oneMember struct {
	AccountID string `path:"accountId"`
}

type changed struct {
	AccountID string `path:"accountId"`
	Role      string `json:"role" required:"true"`
	IfMatch   string `header:"If-Match"`
}

type invited struct {
	Email string `json:"email" required:"true"`
	Role  string `json:"role" required:"true"`
}

type oneInvitation struct {
	ID string `path:"invitationId"`
}

type accepting struct {
	Token string `json:"token" required:"true"`
}

type invitation struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	Role      string `json:"role"`
	InvitedBy string `json:"invited_by,omitempty"` // account ID; omitted if an operator sent the invitation
	CreatedAt string `json:"created_at"`           // RFC 3339 time
	ExpiresAt string `json:"expires_at"`           // RFC 3339 time
}

type invitationList struct {
	Invitations []invitation `json:"invitations"`
}

type joined struct {
	OrganisationID string `json:"organisation_id"`
	Role           string `json:"role"`
}

func (d Deps) list(ctx context.Context, v httpapi.Visitor, _ nothing) (memberList, error) {
	all, err := d.Service.List(ctx, v.Org)
	if err != nil {
		return memberList{}, err
	}
	view := memberList{Members: make([]member, 0, len(all))}
	for _, m := range all {
		view.Members = append(view.Members, member{
			Versioned: httpapi.Versioned{Version: m.Version()},
			AccountID: m.AccountID, Email: m.Email, Role: string(m.Role), Since: timestamp.Of(m.Since),
			Recovers: timestamp.Of(m.RecoversAt),
		})
	}
	return view, nil
}

func (d Deps) change(ctx context.Context, v httpapi.Visitor, in changed) (httpapi.NoData, error) {
	role, err := roleOf(in.Role)
	if err != nil {
		return httpapi.NoData{}, err
	}
	id, ok := ids.ParseUUID(in.AccountID)
	if !ok {
		return httpapi.NoData{}, fault.Missing("Member not found.")
	}
	from, err := version.Parse(in.IfMatch)
	if err != nil {
		return httpapi.NoData{}, err
	}
	return httpapi.NoData{}, d.Service.Change(ctx, by(v), v.Org, members.RoleChange{AccountID: id, Role: role, From: from})
}

func (d Deps) remove(ctx context.Context, v httpapi.Visitor, in oneMember) (httpapi.NoData, error) {
	id, ok := ids.ParseUUID(in.AccountID)
	if !ok {
		return httpapi.NoData{}, fault.Missing("Member not found.")
	}
	return httpapi.NoData{}, d.Service.Remove(ctx, by(v), v.Org, id)
}

func (d Deps) stopRecovery(ctx context.Context, v httpapi.Visitor, in oneMember) (httpapi.NoData, error) {
	id, ok := ids.ParseUUID(in.AccountID)
	if !ok {
		return httpapi.NoData{}, fault.Missing("Member not found.")
	}
	return httpapi.NoData{}, d.Service.StopRecovery(ctx, by(v), v.Org, id)
}

func (d Deps) invitations(ctx context.Context, v httpapi.Visitor, _ nothing) (invitationList, error) {
	all, err := d.Service.Invitations(ctx, v.Org)
	if err != nil {
		return invitationList{}, err
	}
	view := invitationList{Invitations: make([]invitation, 0, len(all))}
	for _, i := range all {
		view.Invitations = append(view.Invitations, invitationOf(i))
	}
	return view, nil
}

func (d Deps) invite(ctx context.Context, v httpapi.Visitor, in invited) (invitation, error) {
	role, err := roleOf(in.Role)
	if err != nil {
		return invitation{}, err
	}
	made, err := d.Service.Invite(ctx, by(v), v.Org, in.Email, role)
	if err != nil {
		return invitation{}, err
	}
	return invitationOf(made), nil
}

func (d Deps) withdraw(ctx context.Context, v httpapi.Visitor, in oneInvitation) (httpapi.NoData, error) {
	id, ok := ids.ParseUUID(in.ID)
	if !ok {
		return httpapi.NoData{}, fault.Missing("Invitation not found.")
	}
	return httpapi.NoData{}, d.Service.Withdraw(ctx, by(v), v.Org, id)
}

func (d Deps) accept(ctx context.Context, v httpapi.Visitor, in accepting) (joined, error) {
	m, err := d.Service.Accept(ctx, v.Account, secret.New(in.Token))
	return joined{OrganisationID: m.OrgID, Role: string(m.Role)}, err
}

func by(v httpapi.Visitor) members.By {
	return members.By{Actor: account.Actor(v.Account), AccountID: v.Account, Role: v.Role}
}

func roleOf(text string) (account.Role, error) {
	role, ok := account.ParseRole(text)
	if !ok {
		return "", fault.BadRequest("role must be owner, admin, developer or viewer.").About("role")
	}
	return role, nil
}

func invitationOf(i account.Invitation) invitation {
	return invitation{
		ID: i.ID, Email: i.Email, Role: string(i.Role), InvitedBy: i.InvitedBy, CreatedAt: timestamp.Of(i.CreatedAt),
		ExpiresAt: timestamp.Of(i.ExpiresAt),
	}
}
