// Package dashboard wires the dashboard functions that send emails and that may link to the dashboard in those emails.
// The package links code that uses SES and the Parameter Store, which the other dashboard functions do not need (ADR
// 7).
package dashboard

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Env holds the environment variables of dashboard functions that send emails, as set in template.yaml.
type Env struct {
	edge.MemberEnv

	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
	DashboardURL     string `env:"DASHBOARD_URL"` // if empty, defaults to a path below the base URL
	MailFrom         string `env:"MAIL_FROM"`     // if empty, no emails are sent
}

// Service holds the dependencies for sending emails.
type Service struct {
	edge.Member

	Address string              // URL of the dashboard
	Mailer  verification.Mailer // nil if no emails are sent
}

// New returns the edge of an endpoint that sends emails.
func New(ctx context.Context, env Env, p lambdarun.Process) (Service, error) {
	base, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return Service{}, err
	}
	e, err := edge.NewMember(ctx, env.MemberEnv, p, base)
	if err != nil {
		return Service{}, err
	}
	made := Service{Member: e, Address: cmp.Or(env.DashboardURL, base+"/dashboard"), Mailer: nil}
	if env.MailFrom != "" {
		made.Mailer = mail.Sender{Client: ses.NewFromConfig(p.AWS), From: env.MailFrom}
	}
	return made, nil
}
