// Package wiring builds the refreshworker function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/refreshworker"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/wiring/disconnector"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/portal"
	"recordbridge/shared/words/ids"
)

const (
	// maxWait limits how long a refresh waits for a slot at its token endpoint before being deferred.
	maxWait = 10 * time.Second
	// concurrency equals the batch size, so that a slow token endpoint doesn't delay other messages.
	concurrency = 10
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	portal.ClientEnv

	disconnector.Env

	FlowTable string `env:"FLOW_TABLE,required"`
}

// Build returns the refreshworker function's handler.
func Build(_ context.Context, env Environment, p outbound.Process) (lambdarun.SQSHandler, error) {
	db, keys := store.NewClient(p.AWS), awskms.NewFromConfig(p.AWS)
	portals, state := portal.New(env.ClientEnv, p, db, keys), store.EndpointState{DB: db, Table: env.FlowTable}
	rows := store.Tokens{DB: db, Table: env.TokensTable}
	manager := tokens.NewManager(
		rows,
		tokens.Vault{Sealer: kms.New(keys, kms.TokensKey(env.TokensKey), tokens.Purpose, p.Now)},
		portals, refresh.NewScheduledLimiter(state, maxWait, p.Now, ids.Random), p.Now, ids.Random,
	)
	worker := refresh.NewWorker(
		store.NewRefresh(store.Connections{DB: db, Table: env.ConnectionTable}, rows,
			store.Events{DB: db, Table: env.WorkTable}),
		manager, state, portals, kms.New(keys, kms.TokensKey(env.TokensKey), refresh.UpstreamPurpose, p.Now),
		records.Ender{Objects: blob.Folders{Client: s3.NewFromConfig(p.AWS), Name: env.DocumentsBucket}},
		disconnector.New(env.Env, p.Process, db),
		queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL), p.Now,
	)
	return lambdarun.SQS(p.Process, lambdarun.Worker[due.Item]{
		Name: "refreshworker", Concurrency: concurrency, Decode: due.Decode, Handle: refreshworker.New(worker),
		Together: nil, Backlog: nil,
	}), nil
}
