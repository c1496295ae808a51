// Package wiring builds the dashboardsession function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"crypto/rand"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/functions/dashboardsession"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/passkey"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/wiring/dashboard"
	"recordbridge/shared/words/ids"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	dashboard.Env

	AuditTable string `env:"AUDIT_TABLE,required"`
	SecretsKey string `env:"SECRETS_KEY,required"`
	// KeyHashingSecret also hashes recovery codes, which must remain valid as long as private keys do.
	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
	RequestsPerHour  int    `env:"REQUESTS_PER_HOUR,required"` // limit on code requests per client address
	CodesPerHour     int    `env:"CODES_PER_HOUR,required"`    // maximum number of codes per mailbox and hour
}

// Build reads secrets and an SSM parameter, and returns the dashboardsession function's handler. Build is called once
// per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := dashboard.New(ctx, env.Env, p)
	if err != nil {
		return nil, err
	}
	party, err := passkey.New(e.Address, "Recordbridge")
	if err != nil {
		return nil, err
	}
	hashing, err := e.Keyring(ctx, env.KeyHashingSecret)
	if err != nil {
		return nil, err
	}
	keys := e.Limiter.Hashing
	limits := maillimit.Limiter{Buckets: e.Flow, Keys: keys, Now: p.Now}
	deps := signin.Deps{
		Accounts: e.Accounts, Sessions: e.Flow, Buckets: e.Flow, Passkeys: party, Mailer: e.Mailer, Limits: limits,
		Dashboard: e.Address,
		Codes: verification.Sender{
			Store: e.Flow, Mailer: e.Mailer, Keys: keys, Random: rand.Reader, NewID: ids.Random, Now: p.Now,
			PerHour: env.CodesPerHour, Limits: limits,
		},
		Checker: verification.Checker{Store: e.Flow, Keys: keys, Random: rand.Reader, Now: p.Now},
		Proofs:  verification.Proofs{Store: e.Flow, Keys: keys, Now: p.Now},
		Hashing: hashing,
		Vault:   kms.New(awskms.NewFromConfig(p.AWS), kms.SecretsKey(env.SecretsKey), signin.SecretPurpose, p.Now),
		Random:  rand.Reader, NewID: ids.Random, Now: p.Now,
	}
	log := audit.Log{Rows: store.Audit{DB: e.DB, Table: env.AuditTable}}
	codes := e.Limiter
	codes.Limit = ratelimit.Limit{Name: "signin", Quota: env.RequestsPerHour, Window: time.Hour}
	return lambdarun.HTTP(p.Logger, dashboardsession.New(dashboardsession.Deps{
		API: e.API, Auth: e.Auth, Arrivals: e.Limiter, Codes: codes, Service: signin.NewAudited(deps, log),
		Organisations: store.Organisations(e.Control),
	})), nil
}
