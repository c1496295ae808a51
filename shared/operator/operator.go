// Package operator owns what an operator does to a stack: organisations, credentials and their keys, webhooks,
// institutions, and how our clients are registered there. It knows no AWS and no transport, and writes through the stores
// that the functions read. Every change leaves an audit row, of its organisation or of what is everybody's. The command line
// calls it (infra/ctl/wiring says how), as whatever else an operator is given will.
package operator

import (
	"context"
	"fmt"
	"io"
	"time"

	"recordbridge/shared/deliverylog"
	"recordbridge/shared/ids"
	"recordbridge/shared/notice"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/webhook"
)

// Deps are what an Operator works with. Servers and Disconnector may be nil where nothing is asked that needs them.
type Deps struct {
	Store       Store          // store.Control
	Work        Work           // store.Work
	Connections ConnectionRows // store.Connections
	Audit       Audit          // audit.Log
	Queue       Queue
	Log         deliverylog.Log
	Hashing     secret.Keyring // of private keys
	Vault       webhook.Vault  // of webhook secrets
	Reach       webhook.Reach  // of webhook addresses
	Clients     Sealer         // of client secrets
	Servers     Servers        // nil for an operator who asks no health system
	// Disconnector ends connections (disconnect.Requester); nil for an operator who ends none.
	Disconnector Disconnector
	Erasures     Erasures  // erase.Requests
	Deletions    Deletions // deletion.Requests
	Inquiries    InquiryParts
	Members      Members
	Catalog      CatalogParts
	Health       HealthParts
	// Get reads a document of at most 64 KiB from the running service, and follows no redirect.
	Get     func(ctx context.Context, address string) ([]byte, error)
	BaseURL string // of the running service
	Now     func() time.Time
	NewID   ids.Source
	Random  io.Reader
	Actor   string // who the audit rows name
}

// Store keeps what an operator decides.
type Store interface {
	OrganisationRows
	CredentialRows
	ClientRows
	RegistrationRows
	EndpointRows
	WebhookRows
}

// Audit keeps who changed what.
type Audit interface {
	// Append adds a row, to a tenant's or with a zero tenant to those of what is everybody's.
	Append(ctx context.Context, tenant org.Tenant, at time.Time, id, actor, action, target string) error
}

// Operator is what an operator does to one stack, by subject. It is safe for concurrent use.
type Operator struct {
	Organisations Organisations
	Credentials   Credentials
	Webhooks      Webhooks
	Log           Log
	Endpoints     Endpoints
	Clients       Clients
	Registrations Registrations
	Connections   Connections
	Exports       Exports
	Inquiries     Inquiries
	Restores      Restores
	Reseals       Reseals
	Catalog       Catalog

	EndpointHealth EndpointHealth
}

// New makes an Operator.
func New(d Deps) *Operator {
	c := &core{deps: d}
	return &Operator{
		Organisations: Organisations{c}, Credentials: Credentials{c, org.Tenant{}}, Webhooks: Webhooks{c}, Log: Log{c},
		Endpoints: Endpoints{c}, Clients: Clients{c}, Registrations: Registrations{c},
		Connections: Connections{c}, Exports: Exports{c}, Inquiries: Inquiries{c}, Restores: Restores{c}, Reseals: Reseals{c}, Catalog: Catalog{c},
		EndpointHealth: EndpointHealth{c},
	}
}

// As is the same operator for somebody else: the audit rows of what it changes name actor.
func (o *Operator) As(actor string) *Operator {
	d := o.Organisations.deps
	d.Actor = actor
	return New(d)
}

// core is what all subjects work with.
type core struct{ deps Deps }

// record writes the audit row of a change that has been made, to a tenant or with a zero tenant to what is everybody's.
func (c *core) record(ctx context.Context, tenant org.Tenant, action, target string) error {
	if err := c.deps.Audit.Append(ctx, tenant, c.deps.Now(), c.deps.NewID(), c.deps.Actor, action, target); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

// tell has an organisation told by e-mail, if it has a verified address.
func (c *core) tell(ctx context.Context, owner org.Organisation, n notice.Notice) error {
	if len(owner.VerifiedEmails) == 0 {
		return nil
	}
	if err := (notice.Outbox{Rows: c.deps.Work, Queue: c.deps.Queue}).Notify(ctx, n); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}
