// Package manage wires what the functions of the dashboard have in common that change an organisation: the rules of package operator,
// with the rows that each of them uses. What only some need is nil, and theirs to give. It links DynamoDB's client and no other.
package manage

import (
	"crypto/rand"

	"recordbridge/shared/audit"
	"recordbridge/shared/deliverylog"
	"recordbridge/shared/ids"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/operator"
	"recordbridge/shared/secret"
	"recordbridge/shared/store"
	"recordbridge/shared/wiring/edge"
)

// Env is what they read of template.yaml.
type Env struct {
	ReadEnv

	AuditTable string `env:"AUDIT_TABLE,required"`
}

// ReadEnv is what those read of it that change nothing.
type ReadEnv struct {
	edge.MemberEnv

	WorkTable string `env:"WORK_TABLE,required"`
}

// Deps are an operator's in a function, which asks no health system and reads no document. Actor is replaced for each request
// (operator.Operator.As).
func Deps(e edge.Member, env Env, p lambdarun.Process) operator.Deps {
	var none operator.Deps // what is everybody's, members do not touch
	return operator.Deps{
		Store: e.Control, Work: store.Work{DB: e.DB, Table: env.WorkTable},
		Audit: audit.Log{Rows: store.Audit{DB: e.DB, Table: env.AuditTable}},
		Log: deliverylog.Log{
			Rows: store.DeliveryLog{DB: e.DB, Table: env.WorkTable}, Subscriptions: e.Control, Answers: nil, Now: p.Now,
		},
		Connections: nil, Queue: nil, Hashing: secret.Keyring{}, Vault: nil, Reach: nil, Clients: nil, Servers: nil, Disconnector: nil, Erasures: nil, Deletions: nil, Inquiries: none.Inquiries, Members: nil,
		Catalog: none.Catalog, Health: none.Health, Get: nil, BaseURL: "",
		Now: p.Now, NewID: ids.Random, Random: rand.Reader, Actor: "",
	}
}
