package wiring

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/platform"
)

// NewProbe makes what tests endpoints of the stack with these outputs, by the rules that were opened on it. Our client
// proves who it is as the functions let it (shared/wiring/portal), with the operator's own permissions.
func NewProbe(cfg aws.Config, outputs map[string]string, o Options, rules *Operator) (probe.Probe, error) {
	platforms, err := platform.NewRegistry()
	if err != nil {
		return probe.Probe{}, err
	}
	keys := awskms.NewFromConfig(cfg)
	signing := strings.FieldsFunc(outputs["ClientKeys"], func(r rune) bool { return r == ',' })
	return probe.New(probe.Deps{
		HTTP: o.HTTP,
		Clients: clientauth.NewRegistry(clientauth.Deps{
			Store:  store.Clients{DB: store.NewClient(cfg), Table: outputs["ControlTable"]},
			Opener: kms.New(keys, outputs["SecretsKey"], catalog.ClientSecretPurpose, o.Now),
			Keys:   clientauth.NewKeyring(kms.SigningKeys{Client: keys}, signing),
			Now:    o.Now, NewID: o.NewID,
		}),
		Registrations: rules.Registrations, Keys: rules.ClientKeys, Platforms: platforms,
		Known: store.EndpointState{DB: store.NewClient(cfg), Table: outputs["FlowTable"]}, BaseURL: outputs["BaseUrl"],
		Now: o.Now, NewID: o.NewID, Random: o.Random,
	}), nil
}
