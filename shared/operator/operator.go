// Package operator owns what an operator does to a stack: organisations, credentials and their keys, webhooks,
// institutions, and how our clients are registered there. It works the same on a laptop, on LocalStack and on AWS, because it writes through the stores that the
// functions read. Every change leaves an audit row, of its organisation or of what is everybody's. It is linked into the command line and the
// runner, in no Lambda.
package operator

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/shared/catalog"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/deliverylog"
	"recordbridge/shared/ids"
	"recordbridge/shared/kms"
	"recordbridge/shared/org"
	"recordbridge/shared/queue"
	"recordbridge/shared/secret"
	"recordbridge/shared/smart"
	"recordbridge/shared/store"
	"recordbridge/shared/webhook"
)

// Options are what an Operator takes from its surroundings.
type Options struct {
	Now    func() time.Time
	NewID  ids.Source
	Random io.Reader
	Actor  string // who the audit rows name
	// HTTP reaches health systems, with the guard that the functions have; nil for an operator who asks none.
	HTTP smart.Doer
}

// Operator changes one stack.
type Operator struct {
	Options

	control store.Control
	work    store.Work
	audit   store.Audit
	hashing secret.Keyring
	sealer  *kms.Sealer // of webhook secrets
	clients *kms.Sealer // of client secrets
	log     deliverylog.Log
	queue   queue.Deliveries
	baseURL string // of the running service
}

// Open makes the Operator of the stack with these outputs (see Outputs in template.yaml).
func Open(ctx context.Context, cfg aws.Config, outputs map[string]string, o Options) (*Operator, error) {
	for _, name := range []string{"ControlTable", "WorkTable", "AuditTable", "KeyHashingSecret", "SecretsKey", "DeliveryQueueUrl"} {
		if outputs[name] == "" {
			return nil, fmt.Errorf("the stack has no output %s", name)
		}
	}
	hashing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(cfg), outputs["KeyHashingSecret"])
	if err != nil {
		return nil, fmt.Errorf("open stack: %w", err)
	}
	db, keys := dynamodb.NewFromConfig(cfg), awskms.NewFromConfig(cfg)
	control := store.Control{DB: db, Table: outputs["ControlTable"]}
	sealer := kms.New(keys, outputs["SecretsKey"], webhook.SecretPurpose, o.Now)
	return &Operator{
		Options: o,
		control: control,
		work:    store.Work{DB: db, Table: outputs["WorkTable"]},
		audit:   store.Audit{DB: db, Table: outputs["AuditTable"]},
		hashing: hashing,
		sealer:  sealer,
		log: deliverylog.Log{
			Rows: store.DeliveryLog{DB: db, Table: outputs["WorkTable"]}, Subscriptions: control, Answers: sealer, Now: o.Now,
		},
		clients: kms.New(keys, outputs["SecretsKey"], catalog.ClientSecretPurpose, o.Now),
		queue:   queue.NewDeliveries(sqs.NewFromConfig(cfg), outputs["DeliveryQueueUrl"]),
		baseURL: outputs["BaseUrl"],
	}, nil
}

// PrivateRanges are the addresses outside the public internet that health systems of the stack with these outputs may
// have: those of this machine for a stack that runs on it (AllowedPrivateRanges of make run), else none.
func PrivateRanges(outputs map[string]string) []netip.Prefix {
	base, err := url.Parse(outputs["BaseUrl"])
	if err != nil || !loopback(base) {
		return nil
	}
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// record writes the audit row of a change that has been made, to a tenant or with a zero tenant to what is everybody's.
func (o *Operator) record(ctx context.Context, tenant org.Tenant, action, target string) error {
	if err := o.audit.Append(ctx, tenant, o.Now(), o.NewID(), o.Actor, action, target); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}
