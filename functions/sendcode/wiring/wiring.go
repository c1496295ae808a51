// Package wiring builds the sendcode function's handler and its adapters. The function's binary links only the adapters
// that this package imports.
package wiring

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/functions/sendcode"
	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/ids"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.HourlyEnv

	CodesPerHour int    `env:"CODES_PER_HOUR,required"` // maximum number of codes per mailbox and hour
	MailFrom     string `env:"MAIL_FROM"`               // sender address; if empty, no emails are sent
}

// Build reads secrets and returns the sendcode function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewHourly(ctx, env.HourlyEnv, p, "sendcode")
	if err != nil {
		return nil, err
	}
	flow := store.Flow{DB: e.DB, Table: env.FlowTable}
	sender := verification.Sender{
		Store: flow, Mailer: nil, Keys: e.Limiter.Hashing, Random: rand.Reader, NewID: ids.Random, Now: p.Now,
		PerHour: env.CodesPerHour,
		Limits:  maillimit.Limiter{Buckets: flow, Keys: e.Limiter.Hashing, Now: p.Now},
	}
	if env.MailFrom != "" {
		sender.Mailer = mail.Sender{Client: ses.NewFromConfig(p.AWS), From: env.MailFrom}
	}
	return lambdarun.HTTP(p.Logger, sendcode.New(
		sendcode.Deps{API: e.API, Auth: e.Auth, Organisations: e.Organisations, Codes: sender})), nil
}
