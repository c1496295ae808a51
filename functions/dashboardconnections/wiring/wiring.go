// Package wiring builds the dashboardconnections function's handler and its adapters. The function's binary links only
// the adapters that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/dashboardconnections"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/manage"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	manage.Env
	manage.CookieEnv

	ConnectionTable  string `env:"CONNECTION_TABLE,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
	RefreshQueueURL  string `env:"REFRESH_QUEUE_URL,required"`
	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
	RequestLogTable  string `env:"REQUEST_LOG_TABLE,required"`
}

// Build reads secrets and an SSM parameter, and returns the dashboardconnections function's handler. Build is called
// once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := manage.NewMember(ctx, env.MemberEnv, env.CookieEnv, p)
	if err != nil {
		return nil, err
	}
	connections := store.Connections{DB: e.DB, Table: env.ConnectionTable}
	hashing, err := e.Keyring(ctx, env.KeyHashingSecret)
	if err != nil {
		return nil, err
	}
	work, chains, queues := store.Work{DB: e.DB, Table: env.WorkTable}, store.Audit{DB: e.DB, Table: env.AuditTable},
		sqs.NewFromConfig(p.AWS)
	names := store.NewAccess(e.Control)
	disconnector := disconnect.Requester{
		Store:    store.Requests{Connections: connections, Tasks: store.Tasks(work), Chains: chains},
		Audit:    audit.Log{Rows: chains},
		Enqueuer: queue.NewDeliveries(queues, env.DeliveryQueueURL), Worker: queue.NewRefreshes(queues, env.RefreshQueueURL),
		NewID: ids.Random, Now: p.Now,
	}
	endpoints := dashboardconnections.New(dashboardconnections.Deps{
		API: e.API, Auth: e.Auth, Disconnector: disconnector,
		Log:         requestlog.Log{Rows: store.RequestLog{DB: e.DB, Table: env.RequestLogTable}, Now: p.Now},
		Endpoints:   names,
		Hashing:     []secret.Keyring{hashing, e.Limiter.Hashing},
		Connections: operator.NewConnections(names, connections, store.Tasks(work), hashing, p.Now),
		Erasures: operator.NewErasures(
			erase.Requests{Rows: store.ErasureRequests(work), Connections: connections, Now: p.Now},
			manage.Journal(e, env.Env, p),
		),
	})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
