package wiring

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/adapters/smart/survey"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
	"recordbridge/shared/words/weburl"
)

// Operator holds one value of each type in package operator, configured for one stack. Create an Operator with Open. An
// Operator is safe for concurrent use.
type Operator struct {
	Organisations    operator.Organisations
	Suspensions      operator.Suspensions
	Deletions        operator.Deletions
	Members          operator.Members
	LiveAccess       operator.LiveAccess
	LiveReviews      operator.LiveReviews
	Credentials      operator.Credentials
	Webhooks         operator.Webhooks
	Deliveries       operator.Deliveries
	Log              operator.Log
	Endpoints        operator.Endpoints
	EndpointHealth   operator.EndpointHealth
	Clients          operator.Clients
	ClientKeys       operator.ClientKeys
	Registrations    operator.Registrations
	Connections      operator.Connections
	Erasures         operator.Erasures
	Exports          operator.Exports
	Inquiries        operator.Inquiries
	Restores         operator.Restores
	Reseals          operator.Reseals
	Catalog          operator.Catalog
	Indexes          operator.Indexes
	CatalogSources   operator.CatalogSources
	CatalogOverrides operator.CatalogOverrides
}

type adapters struct {
	cfg     aws.Config
	outputs map[string]string
	options Options

	control     store.Control
	work        store.Work
	connections store.Connections
	queue       queue.Deliveries
	notices     notice.Outbox
	log         deliverylog.Details
	editor      webhook.Editor
	clients     *kms.Sealer // encrypts client secrets
	hashing     secret.Keyring
	own         weburl.Own
	servers     operator.Servers
	by          operator.Journal
}

func newAdapters(
	cfg aws.Config, outputs map[string]string, o Options, own weburl.Own, hashing secret.Keyring,
) adapters {
	db, keys := store.NewClient(cfg), awskms.NewFromConfig(cfg)
	control := store.Control{DB: db, Table: outputs["ControlTable"]}
	work := store.Work{DB: db, Table: outputs["WorkTable"]}
	vault := kms.New(keys, kms.SecretsKey(outputs["SecretsKey"]), webhook.SecretPurpose, o.Now)
	sent := queue.NewDeliveries(sqs.NewFromConfig(cfg), outputs["DeliveryQueueUrl"])
	reach := safehttp.Options{Allow: PrivateRanges(outputs)}
	var servers operator.Servers = operator.Offline{}
	if o.HTTP != nil {
		servers = survey.Servers{HTTP: o.HTTP}
	}
	return adapters{
		cfg: cfg, outputs: outputs, options: o,
		control: control, work: work, connections: store.Connections{DB: db, Table: outputs["ConnectionTable"]}, queue: sent,
		notices: notice.Outbox{Rows: store.Notices(work), Queue: sent},
		log: deliverylog.Details{
			Log: deliverylog.Log{
				Rows: store.DeliveryLog{DB: db, Table: outputs["WorkTable"]}, Subscriptions: store.Hooks(control), Now: o.Now,
			},
			Answers: vault,
		},
		editor:  webhook.Editor{Vault: vault, Reach: reach, Own: own, Random: o.Random, Now: o.Now},
		clients: kms.New(keys, kms.SecretsKey(outputs["SecretsKey"]), catalog.ClientSecretPurpose, o.Now),
		hashing: hashing, own: own, servers: servers,
		by: operator.NewJournal(AuditLog(cfg, outputs), o.Now, o.NewID, o.Actor),
	}
}

// Each of these types combines the stores used by one part of Operator.
type (
	// owned combines the stores of all row types that an organisation can own.
	owned struct {
		store.Directory
		store.Hooks
		store.Portals
		store.Clients
	}
	registry struct {
		store.Access
		store.Clients
	}
	sealed struct {
		store.OrganisationHooks
		store.Clients
	}
)

func newOperator(a adapters, parts catalogue) *Operator {
	o, control, work, connections, by := a.options, a.control, a.work, a.connections, a.by
	service := Members(a.cfg, a.outputs, o)
	organisations, tasks, clients := store.Organisations(control), store.Tasks(work), store.Clients(control)
	directory, hooks := store.NewDirectory(control), store.NewOrganisationHooks(control)
	access := store.NewAccess(control)
	portals := registry{access, clients}
	deletions := deletion.Requests{Rows: store.DeletionRequests(work), Now: o.Now}
	live := operator.NewLiveAccess(organisations, service, a.log, by)
	published := operator.NewCatalog(parts.rows, parts.publisher, by)
	baseURL := a.outputs["BaseUrl"]
	return &Operator{
		Organisations: operator.NewOrganisations(organisations, a.own, by),
		Suspensions: operator.NewSuspensions(
			owned{directory, hooks.Hooks, access.Portals, clients}, connections, deletions, by),
		Deletions:      operator.NewDeletions(organisations, deletions, service, by),
		Members:        operator.NewMembers(organisations, service, o.Actor),
		LiveAccess:     live,
		LiveReviews:    operator.NewLiveReviews(organisations, live, published, a.notices, by),
		Credentials:    operator.NewCredentials(directory, a.notices, a.hashing, a.own, o.Random, by),
		Webhooks:       operator.NewWebhooks(hooks, a.editor, a.notices, a.log, by),
		Deliveries:     operator.NewDeliveries(hooks, store.NewEventDeliveries(work), a.queue, o.Random, by),
		Log:            operator.NewLog(a.log),
		Endpoints:      operator.NewEndpoints(portals, connections, a.servers, baseURL, by),
		EndpointHealth: operator.NewEndpointHealth(parts.health, parts.rows, parts.publisher.Snapshots, access),
		Clients:        operator.NewClients(portals, connections, a.clients, by),
		ClientKeys:     operator.NewClientKeys(baseURL, get),
		Registrations:  operator.NewRegistrations(portals, a.servers, baseURL, by),
		Connections:    operator.NewConnections(access, connections, tasks, a.hashing, o.Now),
		Indexes:        operator.NewIndexes(access, connections, by),
		Erasures: operator.NewErasures(
			erase.Requests{Rows: store.ErasureRequests(work), Connections: connections, Now: o.Now}, by),
		Exports:          operator.NewExports(access, connections, tasks, a.log, o.Now),
		Inquiries:        operator.NewInquiries(organisations, store.Inquiries(work), inbox(a.cfg, a.outputs, o), by),
		Restores:         operator.NewRestores(organisations, connections, tasks, by),
		Reseals:          operator.NewReseals(sealed{hooks, clients}, a.editor, a.clients, by),
		Catalog:          published,
		CatalogSources:   operator.NewCatalogSources(parts.rows, parts.intake, by),
		CatalogOverrides: operator.NewCatalogOverrides(parts.rows, published, by),
	}
}

// Restore returns a store that copies token sets from a table that DynamoDB restored from a backup. The caller of
// Restore needs permissions on both tables, which operators normally lack (docs/operate/incidents.md, "Break-glass").
func Restore(ctx context.Context, cfg aws.Config, outputs map[string]string, from string) (operator.TokenRows, error) {
	switch outputs["TokensTable"] {
	case "":
		return nil, errors.New("the stack has no output TokensTable")
	case from:
		return nil, errors.New("the table is the stack's own table, not the restored table")
	}
	db := store.NewClient(cfg)
	rows := store.Restore{
		Connections: store.Connections{DB: db, Table: outputs["ConnectionTable"]},
		Events:      store.Events{DB: db, Table: outputs["WorkTable"]},
		Tokens:      store.Tokens{DB: db, Table: outputs["TokensTable"]},
		From:        store.Tokens{DB: db, Table: from},
	}
	if _, err := rows.Restored(ctx, org.Tenant{}, ids.Random()); err != nil && !errors.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("read the restored table: %w", err) // fails before restoring any token set
	}
	return rows, nil
}

// NewProbe returns a probe that tests endpoints of the stack with the given outputs. The probe uses rules to read
// registrations and keys. The probe authenticates like the functions' client (shared/wiring/portal), but with the
// operator's permissions.
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
			Opener: kms.New(keys, kms.SecretsKey(outputs["SecretsKey"]), catalog.ClientSecretPurpose, o.Now),
			Keys:   jws.NewKeyring(kms.ClientKeys(keys), signing),
			Now:    o.Now, NewID: o.NewID,
		}),
		Registrations: rules.Registrations, Keys: rules.ClientKeys, Platforms: platforms,
		Known: store.EndpointState{DB: store.NewClient(cfg), Table: outputs["FlowTable"]}, BaseURL: outputs["BaseUrl"],
		Now: o.Now, NewID: o.NewID, Random: o.Random,
	}), nil
}
