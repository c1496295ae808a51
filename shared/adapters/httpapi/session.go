package httpapi

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Sessions finds the session of a cookie's value, which may be any text from a client. It returns fault.Unauthenticated
// if there is no such session or if it has ended (account.Sessions).
type Sessions interface {
	Session(ctx context.Context, token secret.Text) (account.Session, error)
}

// Memberships returns an account's role in an organisation, or fault.NotFound if it is not a member (account.Sessions).
type Memberships interface {
	Role(ctx context.Context, accountID, orgID string) (account.Role, error)
}

// SessionAuth authenticates and rate-limits the visitors of a dashboard endpoint.
type SessionAuth struct {
	Sessions Sessions
	Members  Memberships
	Limiter  Limiter
}

// Visitor is a person who uses the dashboard.
type Visitor struct {
	Account string       // account id; empty for Anyone
	Org     string       // the organisation of the path, of which the account is a member; may be empty
	Role    account.Role // the account's role in Org
	Tenant  org.Tenant   // Org in the path's mode; zero if the path has no mode
	Session account.Session
	Token   secret.Text // the session's token

	isFresh bool // the last authentication is recent
	request *http.Request
}

// Prove checks whether the visitor's last authentication is recent enough for an action in the path's mode
// (account.Action.NeedsProof). If not, it returns fault.Forbidden (svc_proof_required). Endpoint.Proving does this for
// endpoints that consist of a single action.
func (v Visitor) Prove(action account.Action) error {
	if v.isFresh || !action.NeedsProof(v.Tenant.Mode) {
		return nil
	}
	return account.ProofRequired()
}

// Cookie returns the value of the browser's cookie of that name, or "" unless there is exactly one.
func (v Visitor) Cookie(name string) string {
	if all := v.request.CookiesNamed(name); len(all) == 1 {
		return all[0].Value
	}
	return ""
}

// Member creates a JSON endpoint of the dashboard for members of the path's {orgId} whose role has the needed
// permission, in the path's {mode} if it has one: account.Permission.In returns the part that the mode requires. A
// visitor who is not a member, or a path without a valid organisation or mode, gets the 404 of an unknown organisation.
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
	return Endpoint{serve: serveJSON(know, f), fail: failJSON}
}

// Account creates a JSON endpoint of the dashboard for a signed-in visitor, about the visitor's own account.
func Account[In, Out any](auth SessionAuth, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	know := func(ctx context.Context, c *call) (Visitor, error) { return c.proven(auth.signedIn(ctx, c)) }
	return Endpoint{serve: serveJSON(know, f), fail: failJSON}
}

// Proving returns a copy of the endpoint, which must come from Member or Account, that first checks for recent
// authentication for action.
func (e Endpoint) Proving(action account.Action) Endpoint {
	e.action = action
	return e
}

// proven checks for the recent authentication that the call's endpoint requires, unless err is set.
func (c *call) proven(v Visitor, err error) (Visitor, error) {
	if err == nil && c.action != "" {
		err = v.Prove(c.action)
	}
	return v, err
}

// Pending is like Account, for actions that are allowed before the second factor is verified: verifying it, reading the
// session and ending it.
func Pending[In, Out any](auth SessionAuth, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	return Endpoint{serve: serveJSON(auth.session, f), fail: failJSON}
}

// Anyone creates a JSON endpoint of the dashboard for visitors without a session. The rate limit is per client address.
// Pages of other sites can't call it, since they could sign a visitor in to another account.
func Anyone[In, Out any](limiter Limiter, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	know := func(ctx context.Context, c *call) (Visitor, error) {
		if err := limiter.take(ctx, c, ""); err != nil {
			return Visitor{}, err
		}
		return Visitor{request: c.request}, ownPage(c.request)
	}
	return Endpoint{serve: serveJSON(know, f), fail: failJSON}
}

// signedIn is like session, but requires that every factor of the account is verified.
func (a SessionAuth) signedIn(ctx context.Context, c *call) (Visitor, error) {
	visitor, err := a.session(ctx, c)
	if err == nil && visitor.Session.Pending {
		err = account.ProofRequired()
	}
	return visitor, err
}

// session validates the cookie and checks that one of our own pages sent the request.
func (a SessionAuth) session(ctx context.Context, c *call) (Visitor, error) {
	if err := ownPage(c.request); err != nil {
		return Visitor{}, err
	}
	visitor := Visitor{request: c.request}
	visitor.Token = secret.New(visitor.Cookie(SessionCookieName))
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
		return Visitor{}, forbidden("Send X-CSRF-Token with the csrf_token of the session.")
	}
	visitor.Session, visitor.Account, visitor.isFresh = found, found.AccountID, c.now.Before(found.FreshUntil())
	return visitor, nil
}

// member checks that a visitor has the needed permission in the organisation and mode of the path.
func (a SessionAuth) member(ctx context.Context, c *call, v Visitor, needed account.Permission) (Visitor, error) {
	missing := fault.Missing("There is no such organisation.")
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
		return Visitor{}, forbidden("Your role does not allow this. Ask an owner of the organisation.")
	}
	v.Org, v.Role = orgID, role
	return v, nil
}

// ownPage refuses requests sent by a page of another site, as reported by the browser (Fetch Metadata). A request
// without these headers comes from an old browser or another program, which still needs the token.
func ownPage(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin", site == "none" && safe(r):
		return nil
	}
	return forbidden("The dashboard answers its own pages only.")
}

func safe(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func hasCSRFToken(r *http.Request, session secret.Text) bool {
	sent, want := r.Header.Values("X-CSRF-Token"), account.CSRFToken(session)
	return len(sent) == 1 && subtle.ConstantTimeCompare([]byte(sent[0]), []byte(want)) == 1
}

func forbidden(public string) error {
	return fault.New(fault.Forbidden, fault.CodeForbidden, public)
}
