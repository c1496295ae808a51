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

// Sessions finds the session of what a cookie holds, which may be anything that a client sent; fault.Unauthenticated
// when it is none, or over (account.Sessions).
type Sessions interface {
	Session(ctx context.Context, token secret.Text) (account.Session, error)
}

// Memberships tells what an account is in an organisation; fault.NotFound when it is nothing there (account.Sessions).
type Memberships interface {
	Role(ctx context.Context, accountID, orgID string) (account.Role, error)
}

// SessionAuth is how an endpoint of the dashboard knows who comes, and how often that may be.
type SessionAuth struct {
	Sessions Sessions
	Members  Memberships
	Limiter  Limiter
}

// Visitor is a person who uses the dashboard.
type Visitor struct {
	Account string       // account id; empty for Anyone
	Org     string       // the organisation of the path, which the account is a member of; else empty
	Role    account.Role // there
	Tenant  org.Tenant   // that organisation in the path's mode; zero for a path without one
	Session account.Session
	Token   secret.Text // the session's

	isFresh bool // the last proof of identity is recent
	request *http.Request
}

// Prove checks whether the visitor's last proof of identity is recent enough for an action in the path's mode
// (account.Action.NeedsProof); fault.Forbidden (svc_proof_required) if it is not. Endpoint.Proving does it for actions
// that are a whole endpoint.
func (v Visitor) Prove(action account.Action) error {
	if v.isFresh || !action.NeedsProof(v.Tenant.Mode) {
		return nil
	}
	return account.ProofRequired()
}

// Cookie is what the browser has in its only cookie of that name, or "".
func (v Visitor) Cookie(name string) string {
	if all := v.request.CookiesNamed(name); len(all) == 1 {
		return all[0].Value
	}
	return ""
}

// Member makes a JSON endpoint of the dashboard for members of the path's {orgId} whose role may do what is needed, in
// the path's {mode} where it has one: account.Permission.In says what of it that mode asks. Who is no member, and who
// names no organisation or mode, gets the 404 of an unknown one.
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

// Account makes a JSON endpoint of the dashboard for whoever has signed in, about that account.
func Account[In, Out any](auth SessionAuth, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	know := func(ctx context.Context, c *call) (Visitor, error) { return c.proven(auth.signedIn(ctx, c)) }
	return Endpoint{serve: serveJSON(know, f), fail: failJSON}
}

// Proving returns the endpoint, which Member or Account has made, as one that first checks the visitor's proof
// of identity for an action.
func (e Endpoint) Proving(action account.Action) Endpoint {
	e.action = action
	return e
}

// proven checks the proof of identity that the call's endpoint needs of a visitor, unless there was an error.
func (c *call) proven(v Visitor, err error) (Visitor, error) {
	if err == nil && c.action != "" {
		err = v.Prove(c.action)
	}
	return v, err
}

// Pending is Account for what can also be done before the account's second factor is proven: proving it, looking at
// the session and ending it.
func Pending[In, Out any](auth SessionAuth, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	return Endpoint{serve: serveJSON(auth.session, f), fail: failJSON}
}

// Anyone makes a JSON endpoint of the dashboard for those who have no session yet. The limit is per client address. A
// page of others cannot call it either: it could sign its visitor in as somebody else.
func Anyone[In, Out any](limiter Limiter, f func(context.Context, Visitor, In) (Out, error)) Endpoint {
	know := func(ctx context.Context, c *call) (Visitor, error) {
		if err := limiter.take(ctx, c, ""); err != nil {
			return Visitor{}, err
		}
		return Visitor{request: c.request}, ownPage(c.request)
	}
	return Endpoint{serve: serveJSON(know, f), fail: failJSON}
}

// signedIn is session for those who have proven all that their account asks for.
func (a SessionAuth) signedIn(ctx context.Context, c *call) (Visitor, error) {
	visitor, err := a.session(ctx, c)
	if err == nil && visitor.Session.Pending {
		err = account.ProofRequired()
	}
	return visitor, err
}

// session proves the cookie, and that a page of ours sent it.
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
		return Visitor{}, forbidden("Set the X-CSRF-Token header to the session's csrf_token.")
	}
	visitor.Session, visitor.Account, visitor.isFresh = found, found.AccountID, c.now.Before(found.FreshUntil())
	return visitor, nil
}

// member looks whether a visitor may do what is needed in the organisation and mode of the path.
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

// ownPage refuses what a page of another site has sent, as its browser says (Fetch Metadata). What says nothing is no
// browser, or one that is too old, and still has to know the token.
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
