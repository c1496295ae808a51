// Package portal wires the client for health systems' token endpoints, including client authentication. The package
// links KMS, which encrypts the service's client secrets and signs its assertions (ADR 7, ADR 11).
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
	"recordbridge/shared/words/secret/jws"
)

// ClientEnv holds the environment variables of functions that call token endpoints, as set in template.yaml.
type ClientEnv struct {
	outbound.Env

	ControlTable string   `env:"CONTROL_TABLE,required"`
	SecretsKey   string   `env:"SECRETS_KEY,required"`
	ClientKeys   []string `env:"CLIENT_KEYS"` // key ARNs, signing keys first; if empty, assertions are not signed
}

// New returns the client for token endpoints.
func New(env ClientEnv, p outbound.Process, db *dynamodb.Client, keys *awskms.Client) smart.Portal {
	return smart.NewPortal(p.HTTP, Clients(env, p, db, keys), store.Portals{DB: db, Table: env.ControlTable}, p.Now)
}

// Clients returns the registry that authenticates the service to portals.
func Clients(env ClientEnv, p outbound.Process, db *dynamodb.Client, keys *awskms.Client) *clientauth.Registry {
	return clientauth.NewRegistry(clientauth.Deps{
		Store:  store.Clients{DB: db, Table: env.ControlTable},
		Opener: kms.New(keys, kms.SecretsKey(env.SecretsKey), catalog.ClientSecretPurpose, p.Now),
		Keys:   jws.NewKeyring(kms.ClientKeys(keys), env.ClientKeys),
		Now:    p.Now, NewID: ids.Random,
	})
}
