// Package wiring builds the dashboardorg function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/functions/dashboardorg"
	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/manage/usage"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/manage"
	"recordbridge/shared/wiring/ownurls"
	"recordbridge/shared/words/ids"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	manage.Env
	ownurls.URLEnv

	ConnectionTable string `env:"CONNECTION_TABLE,required"`
	MailFrom        string `env:"MAIL_FROM"`               // sender address; if empty, no emails are sent
	CodesPerHour    int    `env:"CODES_PER_HOUR,required"` // maximum number of codes per mailbox and hour
	PerOrganisation int    `env:"EXPORTS_PER_ORGANISATION,required"`
}

// Build reads a secret and an SSM parameter, and returns the dashboardorg function's handler. Build is called once per
// cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	baseURL, own, err := ownurls.Read(ctx, p, env.URLEnv)
	if err != nil {
		return nil, err
	}
	e, err := edge.NewMember(ctx, env.MemberEnv, p, baseURL)
	if err != nil {
		return nil, err
	}
	var mailer verification.Mailer // nil if emails are disabled
	var answers inquiry.Mailer
	if env.MailFrom != "" {
		from := mail.Sender{Client: ses.NewFromConfig(p.AWS), From: env.MailFrom}
		mailer, answers = from, from
	}
	organisations, hooks := store.Organisations(e.Control), store.Hooks(e.Control)
	work := store.Work{DB: e.DB, Table: env.WorkTable}
	inquiries := store.Inquiries(work)
	keys := e.Limiter.Hashing
	limits := maillimit.Limiter{Buckets: e.Flow, Keys: keys, Now: p.Now}
	// The organisation's members reply to inquiries, not the operator, so the emails contain no support address.
	inbox := inquiry.Inbox{Rows: inquiries, Mailer: answers, Limits: limits, Support: "", Now: p.Now}
	audited := audit.Log{Rows: store.Audit{DB: e.DB, Table: env.AuditTable}}
	// founder doesn't send invitations, so it doesn't need a dashboard URL.
	founder := members.Service{
		Rows: e.Accounts, Audit: audited, Mailer: mailer, Limits: limits, Dashboard: "", Random: rand.Reader,
		NewID: ids.Random, Now: p.Now,
	}
	sent := store.DeliveryLog{DB: e.DB, Table: env.WorkTable}
	log := deliverylog.Log{Rows: sent, Subscriptions: hooks, Now: p.Now}
	by := manage.Journal(e, env.Env, p)
	sender := verification.Sender{
		Store: e.Flow, Mailer: mailer, Keys: keys, Random: rand.Reader, NewID: ids.Random, Now: p.Now,
		PerHour: env.CodesPerHour, Limits: limits,
	}
	checker := verification.Checker{Store: e.Flow, Keys: keys, Random: rand.Reader, Now: p.Now}
	proofs := verification.Proofs{Store: e.Flow, Keys: keys, Now: p.Now}
	endpoints := dashboardorg.New(dashboardorg.Deps{
		API: e.API, Auth: e.Auth, Founder: founder, Accounts: e.Accounts,
		Organisations: operator.NewOrganisations(organisations, own, by),
		Notices:       operator.NewNoticeAddresses(organisations, sender, checker, proofs, by),
		LiveAccess:    operator.NewLiveAccess(organisations, founder, log, by),
		Deletions: operator.NewDeletions(
			organisations, deletion.Requests{Rows: store.DeletionRequests(work), Now: p.Now}, founder, by,
		),
		Setup: operator.NewSetup(
			store.NewSetup(e.Control), store.Connections{DB: e.DB, Table: env.ConnectionTable}, store.Tasks(work), log,
		),
		Inquiries: operator.NewInquiries(organisations, inquiries, inbox, by),
		Audit:     audited,
		Meter: usage.Meter{
			Days: store.UsageDays(work), Events: store.EventLog{DB: e.DB, Table: env.WorkTable}, Deliveries: sent, Now: p.Now,
		},
		Shares: store.Places(work), ConcurrentExports: env.PerOrganisation, Now: p.Now,
	})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
