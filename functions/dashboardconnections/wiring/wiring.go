// Package wiring chooses the adapters of the dashboardconnections function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"recordbridge/functions/dashboardconnections"
	"recordbridge/shared/erase"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/operator"
	"recordbridge/shared/store"
	"recordbridge/shared/wiring/disconnector"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/manage"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	manage.Env

	ConnectionTable  string `env:"CONNECTION_TABLE,required"`
	TokensTable      string `env:"TOKENS_TABLE,required"`
	TokensKey        string `env:"TOKENS_KEY,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
	DocumentsBucket  string `env:"DOCUMENTS_BUCKET,required"`
	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
}

// Build makes the function. It reads secrets, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewMember(ctx, env.MemberEnv, p)
	if err != nil {
		return nil, err
	}
	connections := store.Connections{DB: e.DB, Table: env.ConnectionTable}
	deps := manage.Deps(e, env.Env, p)
	deps.Connections = connections
	if deps.Hashing, err = e.Keyring(ctx, env.KeyHashingSecret); err != nil {
		return nil, err
	}
	deps.Erasures = erase.Requests{Rows: store.Work{DB: e.DB, Table: env.WorkTable}, Connections: connections, Now: p.Now}
	deps.Disconnector = disconnector.New(disconnector.Env{
		ConnectionTable: env.ConnectionTable, TokensTable: env.TokensTable, WorkTable: env.WorkTable, TokensKey: env.TokensKey,
		DeliveryQueueURL: env.DeliveryQueueURL, DocumentsBucket: env.DocumentsBucket,
	}, p, e.DB)
	endpoints := dashboardconnections.New(dashboardconnections.Deps{API: e.API, Auth: e.Auth, Operator: operator.New(deps)})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
