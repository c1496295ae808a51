package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/timestamp"
)

// Connections shows connections and how their tokens fare, as far as rows outside the seal tell, ends them, and has
// them erased. It never shows a token or who the patient is.
type Connections struct {
	service connectionNames
	rows    ConnectionRows
	tasks   exportReader
	hashing secret.Keyring
	now     func() time.Time
}

// connectionNames reads the names that connections are shown with.
type connectionNames interface {
	OrganisationReader
	EndpointReader
}

// NewConnections makes a Connections. hashing holds the key under which external ids are marked.
func NewConnections(
	service connectionNames, rows ConnectionRows, tasks ExportTasks, hashing secret.Keyring, now func() time.Time,
) Connections {
	return Connections{service: service, rows: rows, tasks: exportReader{tasks}, hashing: hashing, now: now}
}

// latestExports limits the exports that are shown with a connection.
const latestExports = 5

// Connection is a connection as an operator sees it.
type Connection struct {
	connection.Connection

	Organisation string       // its name
	Endpoint     string       // its name; empty when the endpoint is not known
	Damaged      []fault.Spot // what of its row cannot be read, and is left out here
	Exports      []Export     // the latest, newest first; only of one that is shown alone
	Do           string       // what helps, with the command for it
}

// ConnectionQuery says which connections are wanted: those that have all that is named.
type ConnectionQuery struct {
	Paging

	ExternalID string // the organisation's own id for the patient, as its last authorisation had it
	EndpointID string
	Status     connection.Status
}

// ConnectionPage is a part of a list. Next is the position to go on after, empty when there are no more; it may follow
// a page that is short, or empty, because the search for one page has an end.
type ConnectionPage struct {
	Connections []Connection
	Next        string
}

// List lists a tenant's connections, newest first. Errors are fault.Invalid and fault.NotFound.
func (o Connections) List(ctx context.Context, tenant org.Tenant, q ConnectionQuery) (ConnectionPage, error) {
	p, err := q.checked()
	if err != nil {
		return ConnectionPage{}, err
	}
	switch q.Status {
	case "", connection.Authorized, connection.Revoked, connection.Rejected:
	default:
		return ConnectionPage{}, fault.BadRequest("The status must be authorized, revoked or rejected.").About("status")
	}
	owner, err := findOrganisation(ctx, o.service, tenant)
	if err != nil {
		return ConnectionPage{}, err
	}
	if q.EndpointID != "" {
		if _, err = findEndpoint(ctx, o.service, q.EndpointID); err != nil {
			return ConnectionPage{}, err
		}
	}
	names := map[string]string{}
	var page ConnectionPage
	page.Connections, page.Next, err = collect(p, o.listed(ctx, tenant, q.ExternalID),
		func(id string) (c Connection, isWanted bool, err error) {
			c, err = readConnection(ctx, o.service, o.rows, tenant, id, names)
			if errors.Is(err, fault.NotFound) {
				return c, false, nil
			}
			c.Organisation, c.Do = owner.Name, adviseConnection(c, o.now())
			return c, o.isOf(c, q.ExternalID) && (q.EndpointID == "" || c.EndpointID == q.EndpointID) &&
				(q.Status == "" || c.Status == q.Status), err
		})
	if err != nil {
		return ConnectionPage{}, fmt.Errorf("list connections: %w", err)
	}
	return page, nil
}

// Show reads one connection with its latest exports. Errors are fault.NotFound.
func (o Connections) Show(ctx context.Context, tenant org.Tenant, id string) (Connection, error) {
	owner, err := findOrganisation(ctx, o.service, tenant)
	if err != nil {
		return Connection{}, err
	}
	c, err := findConnection(ctx, o.service, o.rows, tenant, id)
	if err != nil {
		return Connection{}, err
	}
	exports, err := o.tasks.latest(ctx, tenant, c.ID)
	if err != nil {
		return Connection{}, err
	}
	c.Organisation, c.Exports = owner.Name, exports
	c.Do = adviseConnection(c, o.now())
	return c, nil
}

// findConnection reads a connection that somebody has named. Errors are fault.NotFound.
func findConnection(
	ctx context.Context, names EndpointReader, rows ConnectionReader, tenant org.Tenant, id string,
) (Connection, error) {
	missing := fault.Missing(fmt.Sprintf("There is no connection %q of %s.", id, ownerName(tenant))).About("connection")
	parsed, ok := ids.ParseUUID(id)
	if !ok {
		return Connection{}, missing
	}
	found, err := readConnection(ctx, names, rows, tenant, parsed, map[string]string{})
	if errors.Is(err, fault.NotFound) {
		return Connection{}, missing
	}
	return found, err
}

// readConnection reads a connection with its endpoint's name, which it looks up once. Errors are fault.NotFound.
func readConnection(
	ctx context.Context, names EndpointReader, rows ConnectionReader, tenant org.Tenant, id string,
	endpoints map[string]string,
) (Connection, error) {
	row, damaged, err := rows.InspectConnection(ctx, tenant, id)
	if err != nil {
		return Connection{}, fmt.Errorf("read connection: %w", err)
	}
	name, isKnown := endpoints[row.EndpointID]
	if !isKnown && row.EndpointID != "" {
		e, err := names.Endpoint(ctx, row.EndpointID)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return Connection{}, fmt.Errorf("read endpoint: %w", err)
		}
		name = e.Name
		endpoints[row.EndpointID] = name
	}
	return Connection{Connection: row, Endpoint: name, Damaged: damaged}, nil
}

// overdueAfter is how long a connection may be due without being looked at: the scheduler runs every few minutes,
// and spreads what it sends.
const overdueAfter = time.Hour

// adviseConnection says what helps a connection at a time, in one sentence.
func adviseConnection(c Connection, now time.Time) string {
	of := fmt.Sprintf("-org %s -mode %s", c.Tenant.OrgID, c.Tenant.Mode)
	switch {
	case len(c.Damaged) > 0:
		return adviseDamaged(c.Damaged)
	case c.Status == connection.Rejected:
		return "The patient declined at the portal, and no tokens were ever held: the patient connects again and allows " +
			"access."
	case c.Status == connection.Revoked && c.Refresh.Ended == connection.Disconnected:
		return "Its organisation gave it up; whoever wants it again has the patient reconnect."
	case c.Status == connection.Revoked:
		return fmt.Sprintf("The patient has to reconnect; whether the organisation was told: ctl webhook log %s -type "+
			"patient.authorization_revoked.", of)
	case c.Status != connection.Authorized:
		return "Its status is none that there is: restore the row from the table's backup."
	}
	return adviseAuthorized(c, of, now)
}

func adviseAuthorized(c Connection, of string, now time.Time) string {
	probe := fmt.Sprintf("ctl endpoint test -id %s %s -token-request", c.EndpointID, of)
	switch r := c.Refresh; {
	case !r.RefusedAt.IsZero():
		return fmt.Sprintf("The portal refused it while it refused many, which is believed when it comes again after %s: %s.",
			timestamp.Of(r.RefreshAt), probe)
	case r.RefreshAt.IsZero():
		return "It holds nothing that is ever renewed; when its exports fail with token_refresh_failure, the patient has " +
			"to reconnect."
	case r.FailureClass == damagedTokens:
		return "Its row TOKENS cannot be read at sealed: see that TokensKey is enabled; of this connection alone, the " +
			"patient has to reconnect."
	case r.Failures > 0:
		return fmt.Sprintf("Its refresh fails, is tried again at %s, and revokes nothing: %s.",
			timestamp.Of(r.RefreshAt), probe)
	}
	if due := c.DueAt(); !due.IsZero() && now.Sub(due) > overdueAfter {
		return fmt.Sprintf("Nobody has looked at it since it was due at %s: docs/operate/runbooks/schedule-silent.md.",
			timestamp.Of(due))
	}
	if c.Refresh.Unrenewable {
		return fmt.Sprintf("The portal gave no refresh token, so that it ends at %s, and the patient reconnects then.",
			timestamp.Of(c.Refresh.RefreshAt))
	}
	if len(c.Exports) > 0 && (c.Exports[0].Status == export.Failed || len(c.Exports[0].Damaged) > 0) {
		return fmt.Sprintf("Nothing for the connection; of its last export: ctl export show %s -id %s.", of, c.Exports[0].ID)
	}
	return "Nothing."
}

// damagedTokens is the connection.RefreshState.FailureClass of a token row that does not open.
const damagedTokens = "TOKENS.sealed"

// adviseDamaged says what helps a row of which something cannot be read.
func adviseDamaged(at []fault.Spot) string {
	return fmt.Sprintf("Row %s cannot be read at %s: repair that attribute, or restore the row from the table's backup.",
		at[0].Row, at[0].Attribute)
}
