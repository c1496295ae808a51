// Package manage wires the common parts of the dashboard's functions that manage an organisation. It links only
// DynamoDB's client.
package manage

import (
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/ids"
)

// Env holds the environment variables of functions that change an organisation, as set in template.yaml.
type Env struct {
	ReadEnv

	AuditTable string `env:"AUDIT_TABLE,required"`
}

// ReadEnv holds the environment variables of functions that change nothing, as set in template.yaml.
type ReadEnv struct {
	edge.MemberEnv

	WorkTable string `env:"WORK_TABLE,required"`
}

// Journal returns a function's journal. Each request acts as its member through the As method of the type that it
// changes.
func Journal(e edge.Member, env Env, p lambdarun.Process) operator.Journal {
	return operator.NewJournal(audit.Log{Rows: store.Audit{DB: e.DB, Table: env.AuditTable}}, p.Now, ids.Random, "")
}
