package edge

import (
	"context"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/lambdarun"
)

// MemberEnv holds the environment variables of the dashboard's functions, as set in template.yaml.
type MemberEnv struct {
	Env

	ControlTable string `env:"CONTROL_TABLE,required"`
	LimitSecret  string `env:"LIMIT_SECRET,required"`
}

// Member holds the dependencies of a dashboard endpoint. Only members of organisations call dashboard endpoints.
type Member struct {
	Edge

	Auth     httpapi.SessionAuth
	Control  store.Control
	Accounts store.Accounts
	Flow     store.Flow
}

// NewMember returns a Member. All dashboard endpoints share one rate limit per account and client address. baseURL
// determines the form of the session cookie.
func NewMember(ctx context.Context, env MemberEnv, p lambdarun.Process, baseURL string) (Member, error) {
	e, err := New(ctx, env.Env, p, "dashboard", env.LimitSecret)
	if err != nil {
		return Member{}, err
	}
	flow, accounts := store.Flow{DB: e.DB, Table: env.FlowTable}, store.Accounts{DB: e.DB, Table: env.ControlTable}
	people := account.Sessions{Rows: flow, Accounts: accounts, Now: p.Now}
	return Member{
		Edge: e, Auth: httpapi.SessionAuth{
			Sessions: people, Members: people, Limiter: e.Limiter, Cookies: httpapi.CookiesAt(baseURL),
		},
		Control: store.Control{DB: e.DB, Table: env.ControlTable}, Accounts: accounts, Flow: flow,
	}, nil
}
