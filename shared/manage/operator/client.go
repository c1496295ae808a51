package operator

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Clients creates and changes the client credentials that Recordbridge uses to authenticate with health systems.
type Clients struct {
	rows        ClientRows
	connections ConnectionCheck
	sealer      Sealer
	by          Journal
}

// ClientRows stores Recordbridge's client credentials. Each client is owned by a tenant. All tenants share the zero
// tenant's clients.
type ClientRows interface {
	OrganisationReader
	TenantLister
	RegistrationLister
	// ClientAuthOf reads a client owned by exactly the given tenant. It returns fault.NotFound if the client does not
	// exist.
	ClientAuthOf(ctx context.Context, owner org.Tenant, id string) (catalog.ClientAuth, error)
	// SaveClientAuth creates a client if a.Rev is 0; otherwise, it replaces revision a.Rev. It returns fault.Conflict
	// if the stored revision differs.
	SaveClientAuth(ctx context.Context, owner org.Tenant, a catalog.ClientAuth) error
	// ClientAuths returns the clients of all owners.
	ClientAuths(ctx context.Context) ([]catalog.OwnedClient, error)
	// RemoveClientAuth removes a client. It returns fault.Conflict if the client has changed since it was read.
	RemoveClientAuth(ctx context.Context, owner org.Tenant, a catalog.ClientAuth) error
}

// Sealer encrypts client secrets (kms.Sealer with catalog.ClientSecretPurpose). Shared secrets are sealed for the zero
// tenant.
type Sealer interface {
	Seal(ctx context.Context, tenant org.Tenant, boundTo string, plain []byte) ([]byte, error)
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// NewClients returns a Clients with the given dependencies.
func NewClients(rows ClientRows, connections ConnectionCheck, sealer Sealer, by Journal) Clients {
	return Clients{rows: rows, connections: connections, sealer: sealer, by: by}
}

// Create stores client credentials for one organisation or, if owner is zero, for all organisations. plain is the
// secret, or empty if the method uses none. It is stored only in sealed form. Create assigns the client's ID. The error
// is fault.Invalid or fault.NotFound.
func (o Clients) Create(ctx context.Context, owner org.Tenant, made catalog.ClientAuth,
	plain secret.Text,
) (string, error) {
	if err := checkClient(made, plain); err != nil {
		return "", err
	}
	var err error
	if made.Origins, err = o.checkOrigins(made.Method, made.Origins); err != nil {
		return "", err
	}
	if err := checkOwner(ctx, o.rows, owner); err != nil {
		return "", err
	}
	made.ID, made.Rev = o.by.newID(), 0
	if err := o.save(ctx, owner, made, plain); err != nil {
		return "", err
	}
	return made.ID, o.by.record(ctx, owner, "client.created", made.ID)
}

// List returns the clients of all owners.
func (o Clients) List(ctx context.Context) ([]catalog.OwnedClient, error) {
	all, err := o.rows.ClientAuths(ctx)
	if err != nil {
		return nil, fmt.Errorf("list clients: %w", err)
	}
	return all, nil
}

// SetOrigins replaces the origins to which a client secret may be sent. The client must belong to exactly the given
// owner. For a client with keys, the origins limit where its assertions may be sent. An empty list removes the limit.
// SetOrigins returns the stored origins. The error is fault.Invalid, fault.NotFound or fault.Conflict.
func (o Clients) SetOrigins(ctx context.Context, owner org.Tenant, id string, origins []string) ([]string, error) {
	found, err := o.own(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if found.Origins, err = o.checkOrigins(found.Method, origins); err != nil {
		return nil, err
	}
	if err := o.save(ctx, owner, found, secret.Text{}); err != nil {
		return nil, err
	}
	return found.Origins, o.by.record(ctx, owner, "client.origins_set", id)
}

// Rotation holds a client's new secret or key.
type Rotation struct {
	Secret secret.Text // new secret; empty to keep the current secret
	KeyID  *string     // new key; nil to keep the current key, empty for the service's current key
}

// Rotate replaces the secret or key of a client owned by exactly the given tenant. The client ID does not change. The
// client's connections use the new secret or key from their next refresh. The error is fault.Invalid, fault.NotFound
// or, after a concurrent change, fault.Conflict.
func (o Clients) Rotate(ctx context.Context, owner org.Tenant, id string, change Rotation) error {
	found, err := o.own(ctx, owner, id)
	if err != nil {
		return err
	}
	if change.KeyID != nil {
		if found.Method != catalog.AuthPrivateKey {
			return fault.BadRequest(fmt.Sprintf("The client authenticates with %s and has no key ID. Rotate its "+
				"secret with -secret-file.", found.Method)).About("key-id")
		}
		found.KeyID = *change.KeyID
	} else if found.Method == catalog.AuthPrivateKey && change.Secret.Empty() {
		return fault.BadRequest(
			"The client authenticates with private_key_jwt. Name the key that signs from now on.").About("key-id")
	}
	if err := checkClient(found, change.Secret); err != nil {
		return err
	}
	if err := o.save(ctx, owner, found, change.Secret); err != nil {
		return err
	}
	return o.by.record(ctx, owner, "client.rotated", id)
}

// Remove removes a client that belongs to exactly the given owner, unless a registration uses the client. A connection
// can be refreshed only with the client that created it. If connections may depend on the client, the caller must
// confirm the removal (abandon). The error is fault.NotFound or fault.Conflict.
func (o Clients) Remove(ctx context.Context, owner org.Tenant, id string, abandon bool) error {
	found, err := o.own(ctx, owner, id)
	if err != nil {
		return err
	}
	registered, err := o.rows.Registrations(ctx)
	if err != nil {
		return fmt.Errorf("list registrations: %w", err)
	}
	for _, r := range registered {
		if r.Registration.AuthID == id {
			return refused(fmt.Sprintf("The registration %s of %s uses the client. Change or remove that "+
				"registration first.",
				r.Registration.ClientID, ownerName(r.Owner)))
		}
	}
	if !abandon {
		if err := o.checkUnused(ctx, owner); err != nil {
			return err
		}
	}
	if err := o.rows.RemoveClientAuth(ctx, owner, found); err != nil {
		return changed("client authentication", err)
	}
	return o.by.record(ctx, owner, "client.removed", id)
}

// checkUnused returns an error if any connection may have been created with one of the given owner's clients.
func (o Clients) checkUnused(ctx context.Context, owner org.Tenant) error {
	tenants := []org.Tenant{owner}
	if owner == (org.Tenant{}) {
		var err error
		if tenants, err = o.rows.Tenants(ctx); err != nil {
			return fmt.Errorf("list organisations: %w", err)
		}
	}
	for _, tenant := range tenants {
		connected, err := o.connections.HasConnections(ctx, tenant)
		if err != nil {
			return fmt.Errorf("look for connections: %w", err)
		}
		if connected {
			return fault.New(fault.Conflict, fault.CodeConflict,
				fmt.Sprintf("There are connections of %s. Any that were created with this client could no longer be "+
					"refreshed.", ownerName(tenant))).About("abandon")
		}
	}
	return nil
}

// maxSecret is the maximum length of a client secret, in bytes. Secrets from health systems are a few dozen bytes long.
const maxSecret = 4096

// checkOrigins requires at least one origin for a client with a secret. It returns the origins in canonical form.
func (o Clients) checkOrigins(method catalog.AuthMethod, named []string) ([]string, error) {
	if method != catalog.AuthPrivateKey && len(named) == 0 {
		return nil, fault.BadRequest("A client secret needs the origins of the token endpoints it may be sent to, " +
			"such as https://auth.hospital.example.").About("origin")
	}
	var origins []string
	for _, text := range named {
		origin := catalog.Origin(text)
		u, err := url.Parse(text)
		if err != nil || origin == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
			u.Fragment != "" {
			return nil, fault.BadRequest(fmt.Sprintf("%q is not an origin, such as https://auth.hospital.example: a scheme, a "+
				"host, and no path.", text)).About("origin")
		}
		if u.Scheme != "https" && !loopback(u) {
			return nil,
				fault.BadRequest(fmt.Sprintf("%q is not https; http is allowed only for this "+
					"machine.", text)).About("origin")
		}
		if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	return origins, nil
}

// own reads a client owned by exactly the given tenant.
func (o Clients) own(ctx context.Context, owner org.Tenant, id string) (catalog.ClientAuth, error) {
	found, err := o.rows.ClientAuthOf(ctx, owner, id)
	if errors.Is(err, fault.NotFound) {
		return catalog.ClientAuth{}, fault.Missing(
			fmt.Sprintf("Client authentication %q not found for %s.", id, ownerName(owner))).About("client-auth")
	}
	if err != nil {
		return catalog.ClientAuth{}, fmt.Errorf("read client authentication: %w", err)
	}
	return found, nil
}

// save seals the client's secret, if any, and stores the client. It returns fault.Conflict if the client has changed
// since it was read.
func (o Clients) save(ctx context.Context, owner org.Tenant, a catalog.ClientAuth, plain secret.Text) error {
	if !plain.Empty() {
		sealed, err := o.sealer.Seal(ctx, owner, a.SecretBinding(), []byte(plain.Reveal()))
		if err != nil {
			return fmt.Errorf("seal client secret: %w", err)
		}
		a.Secret = sealed
	}
	if err := o.rows.SaveClientAuth(ctx, owner, a); err != nil {
		return changed("client authentication", err)
	}
	return nil
}

// checkClient rejects values that no authorization server accepts. Its errors never contain the secret.
func checkClient(a catalog.ClientAuth, plain secret.Text) error {
	switch a.Method {
	case catalog.AuthSecretBasic, catalog.AuthSecretPost:
		for field, value := range map[string]string{"algorithm": a.Algorithm, "key-id": a.KeyID} {
			if value != "" {
				return fault.BadRequest(fmt.Sprintf("%s doesn't use an algorithm or a key ID.", a.Method)).About(field)
			}
		}
		if plain.Empty() {
			return fault.BadRequest(fmt.Sprintf("%s requires a client secret, but it is missing or empty.",
				a.Method)).About("secret-file")
		}
		if len(plain.Reveal()) > maxSecret || !visible(plain.Reveal()) {
			return fault.BadRequest("The client secret exceeds 4096 bytes or contains invalid characters, such as a " +
				"line break (RFC 6749, appendix A.2). Is it the right file?").About("secret-file")
		}
	case catalog.AuthPrivateKey:
		if !plain.Empty() {
			return fault.BadRequest("private_key_jwt doesn't use a client secret.").About("secret-file")
		}
		if a.Algorithm != "RS384" && a.Algorithm != "ES384" {
			return fault.BadRequest("The private_key_jwt algorithm must be RS384 or ES384.").About("algorithm")
		}
		if !visible(a.KeyID) || strings.Contains(a.KeyID, " ") {
			return fault.BadRequest("The key ID contains invalid characters. To list our key IDs (kid), run keys " +
				"jwks.").About("key-id")
		}
	default:
		return fault.BadRequest("The method must be client_secret_basic, client_secret_post or private_key_jwt. For " +
			"a public client, set the registration without client authentication.").About("method")
	}
	return nil
}

// visible reports whether text consists only of VSCHAR characters, as client IDs and secrets must (RFC 6749, appendix
// A).
func visible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
