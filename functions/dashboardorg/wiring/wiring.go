// Package wiring chooses the adapters of the dashboardorg function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/functions/dashboardorg"
	"recordbridge/shared/account/members"
	"recordbridge/shared/audit"
	"recordbridge/shared/deletion"
	"recordbridge/shared/ids"
	"recordbridge/shared/inquiry"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/mail"
	"recordbridge/shared/maillimit"
	"recordbridge/shared/operator"
	"recordbridge/shared/store"
	"recordbridge/shared/usage"
	"recordbridge/shared/verification"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/manage"
	"recordbridge/shared/wiring/ownurls"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	manage.Env
	ownurls.URLEnv

	ConnectionTable string `env:"CONNECTION_TABLE,required"`
	MailFrom        string `env:"MAIL_FROM"`               // empty: no e-mails are sent
	CodesPerHour    int    `env:"CODES_PER_HOUR,required"` // to one mailbox
}

// Build makes the function. It reads a secret and a parameter, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewMember(ctx, env.MemberEnv, p)
	if err != nil {
		return nil, err
	}
	deps, log := manage.Deps(e, env.Env, p), audit.Log{Rows: store.Audit{DB: e.DB, Table: env.AuditTable}}
	if _, deps.Own, err = ownurls.Read(ctx, p, env.URLEnv); err != nil {
		return nil, err
	}
	deps.Connections = store.Connections{DB: e.DB, Table: env.ConnectionTable}
	work := store.Work{DB: e.DB, Table: env.WorkTable}
	limits := maillimit.Limiter{Buckets: e.Flow, Keys: e.Limiter.Hashing, Now: p.Now}
	inbox := inquiry.Inbox{Rows: work, Mailer: nil, Limits: limits, Support: "", Now: p.Now} // no member answers as the operator
	keys := e.Limiter.Hashing
	codes := operator.NoticeCodes{
		Sender: verification.Sender{
			Store: e.Flow, Mailer: nil, Keys: keys, Random: rand.Reader, NewID: ids.Random, Now: p.Now, PerHour: env.CodesPerHour, Limits: limits,
		},
		Checker: verification.Checker{Store: e.Flow, Keys: keys, Random: rand.Reader, Now: p.Now},
		Proofs:  verification.Proofs{Store: e.Flow, Keys: keys, Now: p.Now},
	}
	var mailer verification.Mailer // nil: no e-mails are sent
	if env.MailFrom != "" {
		sender := mail.Sender{Client: ses.NewFromConfig(p.AWS), From: env.MailFrom}
		inbox.Mailer, codes.Sender.Mailer, mailer = sender, sender, sender
	}
	deps.Inquiries = operator.InquiryParts{Rows: work, Inbox: inbox}
	// It invites nobody, and its mails lead nowhere.
	founder := members.Service{
		Rows: e.Accounts, Audit: log, Mailer: mailer, Limits: limits, Dashboard: "", Random: rand.Reader, NewID: ids.Random, Now: p.Now,
	}
	deps.Members, deps.Deletions = founder, deletion.Requests{Rows: work, Now: p.Now}
	meter := usage.Meter{
		Days: work, Events: store.EventLog{DB: e.DB, Table: env.WorkTable},
		Deliveries: store.DeliveryLog{DB: e.DB, Table: env.WorkTable}, Now: p.Now,
	}
	endpoints := dashboardorg.New(dashboardorg.Deps{
		API: e.API, Auth: e.Auth, Founder: founder, Operator: operator.New(deps), Accounts: e.Accounts, Codes: codes, Audit: log, Meter: meter, Now: p.Now,
	})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
