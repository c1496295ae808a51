package edge

import (
	"context"

	"recordbridge/shared/httpapi"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/org"
	"recordbridge/shared/store"
)

// PublicEnv is what every endpoint that browsers call with a public id reads of template.yaml.
type PublicEnv struct {
	Env

	ControlTable string `env:"CONTROL_TABLE,required"`
	LimitSecret  string `env:"LIMIT_SECRET,required"`
}

// Public is what an endpoint works with that is called for an organisation, by whoever knows its public id.
type Public struct {
	Edge

	Auth          httpapi.PublicAuth
	Control       store.Control
	Organisations *org.Directory
}

// NewPublic makes the edge of an endpoint with a limit of its own.
func NewPublic(ctx context.Context, env PublicEnv, p lambdarun.Process, limit string) (Public, error) {
	e, err := New(ctx, env.Env, p, limit, env.LimitSecret)
	if err != nil {
		return Public{}, err
	}
	control := store.Control{DB: e.DB, Table: env.ControlTable}
	known := org.NewDirectory(control, p.Now)
	return Public{
		Edge: e, Auth: httpapi.PublicAuth{Public: known, Limiter: e.Limiter}, Control: control, Organisations: known,
	}, nil
}
