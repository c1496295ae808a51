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

// PublicEnv holds the environment variables, set in template.yaml, of endpoints that browsers call with a public ID.
type PublicEnv struct {
	Env
	LogEnv

	ControlTable string `env:"CONTROL_TABLE,required"`
	LimitSecret  string `env:"LIMIT_SECRET,required"`
}

// Public holds the dependencies of an endpoint that browsers call with an organisation's public ID.
type Public struct {
	Edge

	Auth          httpapi.PublicAuth
	Portals       store.Portals
	Organisations *org.Directory
}

// NewPublic returns a Public with its own rate limit.
func NewPublic(ctx context.Context, env PublicEnv, p lambdarun.Process, limit string) (Public, error) {
	e, err := logged(ctx, env.Env, env.LogEnv, p, limit, env.LimitSecret)
	if err != nil {
		return Public{}, err
	}
	control := store.Control{DB: e.DB, Table: env.ControlTable}
	known := org.NewDirectory(store.NewDirectory(control), p.Now)
	return Public{
		Edge: e, Portals: store.Portals(control), Organisations: known,
		// Own is set by starter.New and by identity's wiring
		Auth: httpapi.PublicAuth{Public: known, Limiter: e.Limiter, Own: weburl.Own{}, Alias: ""},
	}, nil
}

// HourlyEnv is the equivalent of PublicEnv for endpoints with an hourly rate limit. A person reads each request to
// these endpoints.
type HourlyEnv struct {
	LogEnv

	FlowTable       string `env:"FLOW_TABLE,required"`
	ControlTable    string `env:"CONTROL_TABLE,required"`
	LimitSecret     string `env:"LIMIT_SECRET,required"`
	RequestsPerHour int    `env:"REQUESTS_PER_HOUR,required"`
}

// NewHourly is like NewPublic, for an endpoint with an hourly rate limit.
func NewHourly(ctx context.Context, env HourlyEnv, p lambdarun.Process, limit string) (Public, error) {
	e, err := NewPublic(ctx, PublicEnv{
		Env: Env{FlowTable: env.FlowTable, RequestsPerMinute: 0}, LogEnv: env.LogEnv, ControlTable: env.ControlTable,
		LimitSecret: env.LimitSecret,
	}, p, limit)
	e.Limiter.Limit = ratelimit.Limit{Name: limit, Quota: env.RequestsPerHour, Window: time.Hour}
	e.Auth.Limiter = e.Limiter
	return e, err
}
