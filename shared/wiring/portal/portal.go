// Package portal wires the client that functions speak to health systems' token endpoints with, and how it
// proves who it is. It links KMS: our client's secrets are sealed under one of its keys, and its assertions are
// signed there (ADR 7, ADR 11).
package portal

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/words/ids"
)

// ClientEnv is what every function that speaks to token endpoints reads of template.yaml.
type ClientEnv struct {
	outbound.Env

	ControlTable string   `env:"CONTROL_TABLE,required"`
	SecretsKey   string   `env:"SECRETS_KEY,required"`
	ClientKeys   []string `env:"CLIENT_KEYS"` // ARNs, the signing ones first; none: no client signs
}

// New makes the client.
func New(env ClientEnv, p outbound.Process, db *dynamodb.Client, keys *awskms.Client) smart.Portal {
	return smart.NewPortal(p.HTTP, Clients(env, p, db, keys), store.Portals{DB: db, Table: env.ControlTable}, p.Now)
}

// Clients knows how our clients prove who they are.
func Clients(env ClientEnv, p outbound.Process, db *dynamodb.Client, keys *awskms.Client) *clientauth.Registry {
	return clientauth.NewRegistry(clientauth.Deps{
		Store:  store.Clients{DB: db, Table: env.ControlTable},
		Opener: kms.New(keys, env.SecretsKey, catalog.ClientSecretPurpose, p.Now),
		Keys:   clientauth.NewKeyring(kms.SigningKeys{Client: keys}, env.ClientKeys),
		Now:    p.Now, NewID: ids.Random,
	})
}
