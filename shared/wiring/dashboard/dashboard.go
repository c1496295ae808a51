// Package dashboard wires what the functions of the dashboard have in common that write to people: e-mails,
// and links in them to the dashboard. It links SES and the Parameter Store, which the dashboard's other
// functions do without (ADR 7).
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

// Env is what they read of template.yaml.
type Env struct {
	edge.MemberEnv

	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
	DashboardURL     string `env:"DASHBOARD_URL"` // empty: below the base URL
	MailFrom         string `env:"MAIL_FROM"`     // empty: no e-mails are sent
}

// Service is what they write with.
type Service struct {
	edge.Member

	Address string              // of the dashboard
	Mailer  verification.Mailer // nil: no e-mails are sent
}

// New makes the edge of such an endpoint.
func New(ctx context.Context, env Env, p lambdarun.Process) (Service, error) {
	e, err := edge.NewMember(ctx, env.MemberEnv, p)
	if err != nil {
		return Service{}, err
	}
	base, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return Service{}, err
	}
	made := Service{Member: e, Address: cmp.Or(env.DashboardURL, base+"/dashboard"), Mailer: nil}
	if env.MailFrom != "" {
		made.Mailer = mail.Sender{Client: ses.NewFromConfig(p.AWS), From: env.MailFrom}
	}
	return made, nil
}
