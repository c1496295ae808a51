// Package starter wires what connect, reconnect and createattempt have in common: they begin an attempt for an organisation
// that a public id names, at a portal whose discovery they read. It links the Parameter Store, for our own base URL (ADR 7).
package starter

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"recordbridge/shared/config/awsparam"
	"recordbridge/shared/flow"
	"recordbridge/shared/ids"
	"recordbridge/shared/smart"
	"recordbridge/shared/smart/platform"
	"recordbridge/shared/tokens"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/outbound"
)

// Env is what they read of template.yaml.
type Env struct {
	edge.PublicEnv
	outbound.Env

	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
}

// Own is what a function has of its own: nil for what it neither reads nor writes.
type Own struct {
	Attempts    flow.Store
	Widgets     flow.Widgets
	Connections flow.Connections
	Verifiers   tokens.Sealer // under the key for verifiers
}

// New makes what begins the attempts of a function with that edge.
func New(ctx context.Context, env Env, p outbound.Process, e edge.Public, own Own) (flow.Starter, error) {
	baseURL, err := awsparam.Read(ctx, ssm.NewFromConfig(p.AWS), env.BaseURLParameter)
	if err != nil {
		return flow.Starter{}, err
	}
	platforms, err := platform.NewRegistry()
	if err != nil {
		return flow.Starter{}, err
	}
	return flow.Starter{
		Store: own.Attempts, Widgets: own.Widgets, Catalog: e.Control, Connections: own.Connections,
		Portal:    smart.Portal{Doer: p.HTTP, Random: rand.Reader, Now: p.Now, Cache: new(smart.Discoveries), Clients: nil, Endpoints: nil},
		Platforms: platforms, Sealer: own.Verifiers,
		BaseURL: baseURL, Now: p.Now, NewID: ids.Random, Random: rand.Reader,
	}, nil
}
