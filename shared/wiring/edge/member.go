package edge

import (
	"context"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/lambdarun"
)

// MemberEnv is what every function of the dashboard reads of template.yaml.
type MemberEnv struct {
	Env

	ControlTable string `env:"CONTROL_TABLE,required"`
	LimitSecret  string `env:"LIMIT_SECRET,required"`
}

// Member is what an endpoint of the dashboard works with, whose callers are members of organisations.
type Member struct {
	Edge

	Auth     httpapi.SessionAuth
	Control  store.Control
	Accounts store.Accounts
	Flow     store.Flow
}

// NewMember makes the edge of an endpoint of the dashboard. All of them share one limit per account and client address.
func NewMember(ctx context.Context, env MemberEnv, p lambdarun.Process) (Member, error) {
	e, err := New(ctx, env.Env, p, "dashboard", env.LimitSecret)
	if err != nil {
		return Member{}, err
	}
	flow, accounts := store.Flow{DB: e.DB, Table: env.FlowTable}, store.Accounts{DB: e.DB, Table: env.ControlTable}
	people := account.Sessions{Rows: flow, Accounts: accounts, Now: p.Now}
	return Member{
		Edge: e, Auth: httpapi.SessionAuth{Sessions: people, Members: people, Limiter: e.Limiter},
		Control: store.Control{DB: e.DB, Table: env.ControlTable}, Accounts: accounts, Flow: flow,
	}, nil
}
