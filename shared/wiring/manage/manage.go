// Package manage wires what the dashboard's functions that manage an organisation have in common. It links DynamoDB's
// client and no other.
package manage

import (
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/ids"
)

// Env holds the variables of template.yaml that functions read which change an organisation.
type Env struct {
	ReadEnv

	AuditTable string `env:"AUDIT_TABLE,required"`
}

// ReadEnv holds the variables of template.yaml that functions read which change nothing.
type ReadEnv struct {
	edge.MemberEnv

	WorkTable string `env:"WORK_TABLE,required"`
}

// Journal makes the journal of a function. Each request acts as its member by the As of the noun that it changes.
func Journal(e edge.Member, env Env, p lambdarun.Process) operator.Journal {
	return operator.NewJournal(audit.Log{Rows: store.Audit{DB: e.DB, Table: env.AuditTable}}, p.Now, ids.Random, "")
}
