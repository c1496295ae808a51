package edge

import (
	"context"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
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
	Portals       store.Portals
	Organisations *org.Directory
}

// NewPublic makes the edge of an endpoint with a limit of its own.
func NewPublic(ctx context.Context, env PublicEnv, p lambdarun.Process, limit string) (Public, error) {
	e, err := New(ctx, env.Env, p, limit, env.LimitSecret)
	if err != nil {
		return Public{}, err
	}
	control := store.Control{DB: e.DB, Table: env.ControlTable}
	known := org.NewDirectory(store.NewDirectory(control), p.Now)
	return Public{
		Edge: e, Portals: store.Portals(control), Organisations: known,
		Auth: httpapi.PublicAuth{Public: known, Limiter: e.Limiter, Own: weburl.Own{}, Alias: ""}, // starter.New sets Own
	}, nil
}

// HourlyEnv is PublicEnv of an endpoint whose requests are counted by the hour, since each of them is read by a person.
type HourlyEnv struct {
	FlowTable       string `env:"FLOW_TABLE,required"`
	ControlTable    string `env:"CONTROL_TABLE,required"`
	LimitSecret     string `env:"LIMIT_SECRET,required"`
	RequestsPerHour int    `env:"REQUESTS_PER_HOUR,required"`
}

// NewHourly is NewPublic for such an endpoint.
func NewHourly(ctx context.Context, env HourlyEnv, p lambdarun.Process, limit string) (Public, error) {
	e, err := NewPublic(ctx, PublicEnv{
		Env: Env{FlowTable: env.FlowTable, RequestsPerMinute: 0}, ControlTable: env.ControlTable,
		LimitSecret: env.LimitSecret,
	}, p, limit)
	e.Limiter.Limit = ratelimit.Limit{Name: limit, Quota: env.RequestsPerHour, Window: time.Hour}
	e.Auth.Limiter = e.Limiter
	return e, err
}
