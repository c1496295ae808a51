package dashboardmembers_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"recordbridge/functions/dashboardmembers"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

const (
	base         = "/dashboard/organisations/" + membertest.OrgA
	membersRoute = "/dashboard/organisations/{orgId}/members"
	inviteRoute  = "/dashboard/organisations/{orgId}/invitations"
	known        = "ac000000-0000-4000-8000-000000000002"
	invited      = "1b000000-0000-4000-8000-000000000001"
)

// people is a fake Service that holds one member and one invitation of OrgA. The methods of people return their
// arguments so that tests can compare them.
type people struct{}

func (people) List(context.Context, string) ([]members.Member, error) {
	m := account.Membership{OrgID: membertest.OrgA, AccountID: known, Role: account.Admin, Since: keyedtest.Moment()}
	return []members.Member{{Membership: m, Email: "bob@alder.example"}}, nil
}

func (people) Change(_ context.Context, by members.By, orgID string, to members.RoleChange) error {
	if err := to.From.Check("role", account.Membership{Role: account.Admin}.Version()); err != nil {
		return err
	}
	return pass(by, orgID, to.AccountID, to.Role != account.Viewer)
}

func (people) Remove(_ context.Context, by members.By, orgID, accountID string) error {
	return pass(by, orgID, accountID, true)
}

func pass(by members.By, orgID, accountID string, ok bool) error {
	switch {
	case by.Actor != "member:"+by.AccountID || orgID != membertest.OrgA || accountID != known:
		return fault.Missing("Member not found.")
	case !ok:
		return fault.New(fault.Conflict, fault.CodeConflict, "The last owner must remain an owner.")
	}
	return nil
}

func (people) Invite(_ context.Context, by members.By, orgID, email string,
	role account.Role,
) (account.Invitation, error) {
	made := account.Invitation{
		ID: invited, OrgID: orgID, Email: email, Role: role, SecretHash: "hash", InvitedBy: by.AccountID,
		CreatedAt: keyedtest.Moment(), ExpiresAt: keyedtest.Moment(),
	}
	return made, pass(by, orgID, known, true)
}

func (p people) Invitations(ctx context.Context, orgID string) ([]account.Invitation, error) {
	made, err := p.Invite(ctx, members.Operator("member:"), orgID, "eve@birch.example", account.Viewer)
	return []account.Invitation{made}, err
}

func (people) Withdraw(_ context.Context, by members.By, orgID, id string) error {
	if id != invited {
		return fault.Missing("Invitation not found.")
	}
	return pass(by, orgID, known, true)
}

func (people) StopRecovery(_ context.Context, _ members.By, _, accountID string) error {
	if accountID != known {
		return fault.Missing("This account has no recovery in progress.")
	}
	return nil
}

func (people) Accept(_ context.Context, accountID string, token secret.Text) (account.Membership, error) {
	if token.Reveal() != "token" {
		return account.Membership{}, fault.Missing("This invitation is no longer valid.")
	}
	return account.Membership{OrgID: membertest.OrgA, AccountID: accountID, Role: account.Viewer}, nil
}

func newHandler() http.Handler {
	return dashboardmembers.New(dashboardmembers.Deps{API: keyedtest.NewAPI(), Auth: membertest.Auth(), Service: people{}})
}

func TestMemberRoutesRequirePermission(t *testing.T) {
	t.Parallel()
	for route, all := range map[string][]struct {
		request membertest.Exchange
		needed  account.Permission
	}{
		membersRoute: {{membertest.Exchange{Path: base + "/members"}, account.View}},
		membersRoute + "/{accountId}": {
			{membertest.Exchange{Method: "PATCH", Path: base + "/members/" + known, Body: `{"role":"admin"}`}, account.Manage},
			{membertest.Exchange{Method: "DELETE", Path: base + "/members/" + known}, account.Manage},
		},
		membersRoute +
			"/{accountId}/recovery": {{
			membertest.Exchange{Method: "DELETE", Path: base + "/members/" + known + "/recovery"},
			account.Own,
		}},
		inviteRoute: {
			{membertest.Exchange{Path: base + "/invitations"}, account.Manage},
			{
				membertest.Exchange{Method: "POST", Path: base + "/invitations", Body: `{"email":"a@b.example","role":"viewer"}`},
				account.Manage,
			},
		},
		inviteRoute + "/{invitationId}": {{
			membertest.Exchange{Method: "DELETE", Path: base + "/invitations/" + invited},
			account.Manage,
		}},
	} {
		for _, c := range all {
			t.Run(c.request.Method+" "+route, func(t *testing.T) {
				t.Parallel()
				membertest.CheckMember(t, route, c.request, c.needed, newHandler)
			})
		}
	}
}

func TestMemberRoutesListAndChangeMembersAndInvitations(t *testing.T) {
	t.Parallel()
	const done = `{"success":true}`
	loaded := account.Membership{Role: account.Admin}.Version()
	one := `{"id":"` + invited + `","email":"eve@birch.example","role":"viewer",`
	times := `"created_at":"2026-03-04T05:06:07Z","expires_at":"2026-03-04T05:06:07Z"}`
	for name, e := range map[string]membertest.Exchange{
		"members": {
			Path: "/members", Status: 200,
			Want: `{"success":true,"data":{"members":[{"version":"` + loaded + `","account_id":"` + known +
				`","email":"bob@alder.example","role":"admin","since":"2026-03-04T05:06:07Z"}]}}`,
		},
		"a role": {
			Method: "PATCH", Path: "/members/" + strings.ToUpper(known), Body: `{"role":"owner"}`,
			Status: 200, Want: done,
		},
		"a role of the loaded version": {
			Method: "PATCH", Path: "/members/" + known, IfMatch: `"` + loaded + `"`, Body: `{"role":"owner"}`,
			Status: 200, Want: done,
		},
		"a role of another version": {
			Method: "PATCH", Path: "/members/" + known, IfMatch: `"other"`, Body: `{"role":"owner"}`,
			Status: 409, Want: membertest.StaleEdit("role"),
		},
		"a malformed version": {
			Method: "PATCH", Path: "/members/" + known, IfMatch: loaded, Body: `{"role":"owner"}`, Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "If-Match must be * or a list of ETags."),
		},
		"no role": {
			Method: "PATCH", Path: "/members/" + known, Body: `{"role":"root"}`, Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "role must be owner, admin, developer or viewer."),
		},
		"nobody's role": {
			Method: "PATCH", Path: "/members/x", Body: `{"role":"owner"}`, Status: 404,
			Want: keyedtest.FailureBody("svc_not_found", "Member not found."),
		},
		"a conflict": {
			Method: "PATCH", Path: "/members/" + known, Body: `{"role":"viewer"}`, Status: 409,
			Want: keyedtest.FailureBody("svc_conflict", "The last owner must remain an owner."),
		},
		"an old proof": {
			Method: "DELETE", Path: "/members/" + known, As: membertest.Stale, Status: 403,
			Want: membertest.ProofRequired,
		},
		"a removal": {Method: "DELETE", Path: "/members/" + known, Status: 200, Want: done},
		"invitations": {
			Path: "/invitations", Status: 200,
			Want: `{"success":true,"data":{"invitations":[` + one + times + `]}}`,
		},
		"an invitation": {
			Method: "POST", Path: "/invitations", Body: `{"email":"eve@birch.example","role":"viewer"}`,
			Status: 200, Want: `{"success":true,"data":` + one + `"invited_by":"` + membertest.AccountOf(membertest.Owner) +
				`",` + times + `}`,
		},
		"a withdrawal": {Method: "DELETE", Path: "/invitations/" + invited, Status: 200, Want: done},
		"of another's": {
			Method: "DELETE", Path: "/invitations/" + known, Status: 404,
			Want: keyedtest.FailureBody("svc_not_found", "Invitation not found."),
		},
		"of what is no id": {
			Method: "DELETE", Path: "/invitations/x", Status: 404,
			Want: keyedtest.FailureBody("svc_not_found", "Invitation not found."),
		},
		"nobody as a guest": {
			Method: "POST", Path: "/invitations", Body: `{"role":"viewer"}`, Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "email is required."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			route := membersRoute
			switch {
			case strings.HasPrefix(e.Path, "/members/"):
				route += "/{accountId}"
			case strings.HasPrefix(e.Path, "/invitations/"):
				route = inviteRoute + "/{invitationId}"
			case e.Path == "/invitations":
				route = inviteRoute
			}
			e.Path = base + e.Path
			if e.As == "" {
				e.As = membertest.Owner
			}
			e.Check(t, route, newHandler())
		})
	}
}

func TestSignedInAccountCanAcceptInvitation(t *testing.T) {
	t.Parallel()
	const route = "/dashboard/invitations"
	for name, e := range map[string]membertest.Exchange{
		"a right one": {
			As: membertest.Stranger, Body: `{"token":"token"}`, Status: 200,
			Want: `{"success":true,"data":{"organisation_id":"` + membertest.OrgA + `","role":"viewer"}}`,
		},
		"a wrong one": {
			As: membertest.Stranger, Body: `{"token":"other"}`, Status: 404,
			Want: keyedtest.FailureBody("svc_not_found", "This invitation is no longer valid."),
		},
		"nobody":         {Body: `{"token":"token"}`, Status: 401, Want: membertest.NoSession},
		"half signed in": {As: membertest.Pending, Body: `{"token":"token"}`, Status: 403, Want: membertest.ProofRequired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Method, e.Path = http.MethodPost, route
			e.Check(t, route, newHandler())
		})
	}
}

func TestOwnerCanStopRecoveryWithoutRecentProof(t *testing.T) {
	t.Parallel()
	const route = membersRoute + "/{accountId}/recovery"
	stopped := membertest.Exchange{
		Method: "DELETE", Path: base + "/members/" + known + "/recovery", As: membertest.Stale,
		Status: 200, Want: `{"success":true}`,
	}
	stopped.Check(t, route, newHandler())
	stopped.Path = base + "/members/none/recovery"
	stopped.Status, stopped.Want = 404, keyedtest.FailureBody("svc_not_found", "Member not found.")
	stopped.Check(t, route, newHandler())
}
