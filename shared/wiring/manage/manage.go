// Package manage wires the parts that the dashboard's management functions share. The package links the DynamoDB client
// and code that reads the Parameter Store (ADR 7).
package manage

import (
	"context"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/ids"
)

// Env holds the environment variables of functions that change an organisation, as set in template.yaml.
type Env struct {
	ReadEnv

	AuditTable string `env:"AUDIT_TABLE,required"`
}

// ReadEnv holds the environment variables of read-only functions, as set in template.yaml.
type ReadEnv struct {
	edge.MemberEnv

	WorkTable string `env:"WORK_TABLE,required"`
}

// CookieEnv holds the environment variable of functions that need the service's base URL only for its cookies.
type CookieEnv struct {
	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
}

// NewMember returns the edge of a function whose environment contains the CookieEnv variable.
func NewMember(ctx context.Context, member edge.MemberEnv, env CookieEnv, p lambdarun.Process) (edge.Member, error) {
	baseURL, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return edge.Member{}, err
	}
	return edge.NewMember(ctx, member, p, baseURL)
}

// Journal returns a journal that records a function's changes. To attribute a change to the member who requested it,
// call the As method of the type that makes the change.
func Journal(e edge.Member, env Env, p lambdarun.Process) operator.Journal {
	return operator.NewJournal(audit.Log{Rows: store.Audit{DB: e.DB, Table: env.AuditTable}}, p.Now, ids.Random, "")
}
