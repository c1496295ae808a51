package httpapi

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Sessions looks up the session that a cookie's value identifies. The value may be any text from a client. If the
// session does not exist or has ended, Session returns fault.Unauthenticated (account.Sessions).
type Sessions interface {
	Session(ctx context.Context, token secret.Text) (account.Session, error)
}

// Memberships looks up an account's role in an organisation. Like account.Sessions, Role returns fault.NotFound if the
// account is not a member.
type Memberships interface {
	Role(ctx context.Context, accountID, orgID string) (account.Role, error)
}

// SessionAuth authenticates and rate-limits the users of dashboard endpoints.
type SessionAuth struct {
	Sessions Sessions
	Members  Memberships
	Limiter  Limiter
	Cookies  Cookies
}

// Visitor is a user of the dashboard.
type Visitor struct {
	Account string       // account ID; empty on endpoints created by Anyone
	Org     string       // ID of the path's organisation; set only by Member
	Role    account.Role // account's role in Org
	Tenant  org.Tenant   // Org's tenant in the path's mode; zero if the path has no mode
	Session account.Session
	Token   secret.Text // session token

	isFresh bool // whether the last authentication is recent
	request *http.Request
}

// Prove returns fault.Forbidden (svc_proof_required) unless the visitor has authenticated recently enough for action in
// the path's mode (account.Action.NeedsProof). For an endpoint that performs a single action, use Endpoint.Proving
// instead.
func (v Visitor) Prove(action account.Action) error {
	if v.isFresh || !action.NeedsProof(v.Tenant.Mode) {
		return nil
	}
	return account.ProofRequired()
}

// Cookie returns the value of the named cookie, or "" unless the browser sent exactly one cookie with that name.
func (v Visitor) Cookie(name string) string {
	if all := v.request.CookiesNamed(name); len(all) == 1 {
		return all[0].Value
	}
	return ""
}

// Member creates a dashboard JSON endpoint for members of the path's {orgId} whose role has the needed permission. If
// the path contains a {mode}, account.Permission.In determines the permission needed in that mode. Non-members, unknown
// organisations, and invalid organisations or modes all result in the same 404 response.
func Member[In, Out any](auth SessionAuth, needed account.Permission,
	f func(context.Context, Visitor, In) (Out, error),
) Endpoint {
	know := func(ctx context.Context, c *call) (Visitor, error) {
		visitor, err := auth.signedIn(ctx, c)
		if err != nil {
			return Visitor{}, err
		}
		return c.proven(auth.member(ctx, c, visitor, needed))
	}
	return Endpoint{serve: serveJSON(know, sourced(f)), fail: failJSON}
}

// Account creates a dashboard JSON endpoint for signed-in visitors.
func Account[In, Out any](auth SessionAuth, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	know := func(ctx context.Context, c *call) (Visitor, error) { return c.proven(auth.signedIn(ctx, c)) }
	return Endpoint{serve: serveJSON(know, sourced(f)), fail: failJSON}
}

// Proving returns a copy of e, an endpoint created by Member or Account, that requires recent authentication for
// action.
func (e Endpoint) Proving(action account.Action) Endpoint {
	e.action = action
	return e
}

// proven checks that the visitor has authenticated recently, if the endpoint requires recent authentication. proven
// returns a non-nil err unchanged.
func (c *call) proven(v Visitor, err error) (Visitor, error) {
	if err == nil && c.action != "" {
		err = v.Prove(c.action)
	}
	return v, err
}

// Pending is like Account, but also admits visitors whose second factor is not yet verified. Use Pending for endpoints
// that verify the second factor, or that read or end the session.
func Pending[In, Out any](auth SessionAuth, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	return Endpoint{serve: serveJSON(auth.session, sourced(f)), fail: failJSON}
}

// Anyone creates a dashboard JSON endpoint for visitors without a session. Requests are rate-limited per client
// address. Requests from other sites' pages are rejected, because they could sign a visitor in to another account.
func Anyone[In, Out any](limiter Limiter, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	know := func(ctx context.Context, c *call) (Visitor, error) {
		if err := limiter.take(ctx, c, ""); err != nil {
			return Visitor{}, err
		}
		return Visitor{request: c.request}, ownPage(c.request)
	}
	return Endpoint{serve: serveJSON(know, sourced(f)), fail: failJSON}
}

// sourced returns f with a context that contains the visitor's network for audit rows.
func sourced[In, Out any](
	f func(context.Context, Visitor, In) (Out, error),
) func(context.Context, Visitor, In) (Out, error) {
	return func(ctx context.Context, v Visitor, in In) (Out, error) {
		return f(audit.WithSource(ctx, auditNetwork(v.request.RemoteAddr)), v, in)
	}
}

// signedIn is like session, but also requires all of the account's factors to be verified.
func (a SessionAuth) signedIn(ctx context.Context, c *call) (Visitor, error) {
	visitor, err := a.session(ctx, c)
	if err == nil && visitor.Session.Pending {
		err = account.ProofRequired()
	}
	return visitor, err
}

// session validates the session cookie and the CSRF token, and rejects requests from other sites' pages.
func (a SessionAuth) session(ctx context.Context, c *call) (Visitor, error) {
	if err := ownPage(c.request); err != nil {
		return Visitor{}, err
	}
	visitor := Visitor{request: c.request}
	visitor.Token = secret.New(visitor.Cookie(a.Cookies.Name(SessionCookie)))
	found, err := a.Sessions.Session(ctx, visitor.Token)
	if errors.Is(err, fault.Unauthenticated) {
		return Visitor{}, errors.Join(a.Limiter.take(ctx, c, ""), err)
	}
	if err != nil {
		return Visitor{}, err
	}
	logx.Add(ctx, slog.String("account_id", found.AccountID))
	if err := a.Limiter.take(ctx, c, found.AccountID); err != nil {
		return Visitor{}, err
	}
	if !safe(c.request) && !hasCSRFToken(c.request, visitor.Token) {
		return Visitor{}, forbidden("Set the X-CSRF-Token header to the session's csrf_token.")
	}
	visitor.Session, visitor.Account, visitor.isFresh = found, found.AccountID, c.now.Before(found.FreshUntil())
	return visitor, nil
}

// member checks that a visitor has the needed permission in the path's organisation and mode.
func (a SessionAuth) member(ctx context.Context, c *call, v Visitor, needed account.Permission) (Visitor, error) {
	missing := fault.Missing("Organisation not found.")
	orgID, ok := ids.ParseUUID(c.request.PathValue("orgId"))
	if !ok {
		return Visitor{}, missing
	}
	var mode org.Mode
	if text := c.request.PathValue("mode"); text != "" {
		if mode, ok = org.ParseMode(text); !ok {
			return Visitor{}, missing
		}
		v.Tenant = org.Tenant{Mode: mode, OrgID: orgID}
	}
	role, err := a.Members.Role(ctx, v.Account, orgID)
	if errors.Is(err, fault.NotFound) {
		return Visitor{}, missing.Because(err)
	}
	if err != nil {
		return Visitor{}, err
	}
	logx.Add(ctx, slog.String("org_id", orgID), slog.String("mode", string(mode)))
	if !role.May(needed.In(mode)) {
		return Visitor{}, forbidden("Your role doesn't allow this. Ask an owner of your organisation.")
	}
	v.Org, v.Role = orgID, role
	return v, nil
}

// ownPage rejects requests that, according to the browser's Fetch Metadata, come from another origin's page. A request
// without Fetch Metadata headers comes from an old browser or a non-browser client, and is still subject to the CSRF
// check.
func ownPage(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin", site == "none" && safe(r):
		return nil
	}
	return forbidden("This endpoint accepts requests only from the dashboard.")
}

func safe(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func hasCSRFToken(r *http.Request, session secret.Text) bool {
	sent, want := r.Header.Values("X-CSRF-Token"), account.CSRFToken(session)
	return len(sent) == 1 && subtle.ConstantTimeCompare([]byte(sent[0]), []byte(want)) == 1
}

func forbidden(public string) error {
	return fault.New(fault.Forbidden, fault.CodeForbidden, public)
}
