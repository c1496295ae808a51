package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/timestamp"
)

// Connections lists and disconnects connections, and requests their erasure. It derives the token status only from
// unencrypted fields and never shows a token or the patient's identity.
type Connections struct {
	service connectionNames
	rows    ConnectionRows
	tasks   exportReader
	hashing secret.Keyring
	now     func() time.Time
}

// connectionNames reads the names of connections' organisations and endpoints.
type connectionNames interface {
	OrganisationReader
	EndpointReader
}

// NewConnections returns a Connections. hashing holds the keys for hashing external IDs.
func NewConnections(
	service connectionNames, rows ConnectionRows, tasks ExportTasks, hashing secret.Keyring, now func() time.Time,
) Connections {
	return Connections{service: service, rows: rows, tasks: exportReader{tasks}, hashing: hashing, now: now}
}

// latestExports is the maximum number of exports shown with a connection.
const latestExports = 5

// Connection holds the details of a connection for an operator.
type Connection struct {
	connection.Connection

	Organisation string       // name of the organisation
	Endpoint     string       // name of the endpoint; empty if unknown
	Damaged      []fault.Spot // locations of the unreadable parts of the connection's row, which are omitted here
	Exports      []Export     // latest exports, newest first; set only by Show
	Do           string       // recommended action, with its ctl command
}

// ConnectionQuery selects the connections that match all fields that are set.
type ConnectionQuery struct {
	Paging

	ExternalID string // patient's ID at the organisation, as of the latest authorisation
	BrandID    string
	PortalID   string
	EndpointID string
	Status     connection.Status
	Cause      connection.Cause
	From, To   time.Time // Creation time: at or after From, and before To. Zero means no limit.
}

// ConnectionPage is a page in a list of connections. Next is the cursor of the next page, or "" if there are no more
// connections. The number of rows read for a page is limited, so a page may be short or empty even if more connections
// follow.
type ConnectionPage struct {
	Connections []Connection
	Next        string
	SearchedTo  time.Time // the creation time back to which connections were searched, if the limit ended the page
}

// List returns a tenant's connections, newest first. The error is fault.Invalid or fault.NotFound.
func (o Connections) List(ctx context.Context, tenant org.Tenant, q ConnectionQuery) (ConnectionPage, error) {
	p, err := q.checked()
	if err != nil {
		return ConnectionPage{}, err
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
	list, err := o.listed(ctx, tenant, q)
	if err != nil {
		return ConnectionPage{}, err
	}
	names := map[string]string{}
	var page ConnectionPage
	page.Connections, page.Next, err = collect(p, list,
		func(id string) (c Connection, isWanted bool, err error) {
			c, err = readConnection(ctx, o.service, o.rows, tenant, id, names)
			if errors.Is(err, fault.NotFound) {
				return c, false, nil
			}
			c.Organisation, c.Do = owner.Name, adviseConnection(c, o.now())
			return c, o.isOf(c, q.ExternalID) && q.matches(c.Connection), err
		})
	if err != nil {
		return ConnectionPage{}, fmt.Errorf("list connections: %w", err)
	}
	if page.Next != "" && len(page.Connections) < p.Limit {
		at, _, _ := strings.Cut(page.Next, "#")
		page.SearchedTo, _ = time.Parse(stamp, at) // placesIn returns only cursors in this format
	}
	return page, nil
}

// Show returns a connection with its latest exports. It returns fault.NotFound if the connection does not exist.
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

// findConnection reads the connection named by the caller. It returns fault.NotFound if the connection does not exist.
func findConnection(
	ctx context.Context, names EndpointReader, rows ConnectionReader, tenant org.Tenant, id string,
) (Connection, error) {
	missing := fault.Missing(fmt.Sprintf("Connection %q not found for %s.", id, ownerName(tenant))).About("connection")
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

// readConnection reads a connection and the name of its endpoint. It returns fault.NotFound if the connection does not
// exist.
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

// overdueAfter is the time after which a due connection counts as overdue. The scheduler runs every few minutes and
// spreads its messages over time.
const overdueAfter = time.Hour

// adviseConnection returns the recommended action for a connection, in one sentence.
func adviseConnection(c Connection, now time.Time) string {
	of := fmt.Sprintf("-org %s -mode %s", c.Tenant.OrgID, c.Tenant.Mode)
	switch {
	case len(c.Damaged) > 0:
		return adviseDamaged(c.Damaged)
	case c.Status == connection.Rejected:
		return "The patient declined at the portal, so there are no tokens. Have the patient reconnect and allow " +
			"access."
	case c.Status == connection.Revoked && c.Refresh.Ended == connection.Disconnected:
		return "The organisation revoked it. To use it again, have the patient reconnect."
	case c.Status == connection.Revoked:
		return fmt.Sprintf("Have the patient reconnect. To check whether the organisation was notified, run ctl "+
			"webhook log %s -type patient.authorization_revoked.", of)
	case c.Status != connection.Authorized:
		return "Its status is unknown: restore the row from the table's backup."
	}
	return adviseAuthorized(c, of, now)
}

func adviseAuthorized(c Connection, of string, now time.Time) string {
	probe := fmt.Sprintf("ctl endpoint test -id %s %s -token-request", c.EndpointID, of)
	switch r := c.Refresh; {
	case !r.RefusedAt.IsZero():
		return fmt.Sprintf("The portal refused it during a wave of refusals; it will be revoked if the refusal "+
			"repeats after %s: %s.",
			timestamp.Of(r.RefreshAt), probe)
	case r.RefreshAt.IsZero():
		return adviseLostTokens(of)
	case r.FailureClass == damagedTokens:
		return "The attribute sealed of its TOKENS row can't be read: check that TokensKey is enabled. If only this " +
			"connection is affected, restore the row (docs/operate/incidents.md, Tokens) or have the patient reconnect."
	case r.Failures > 0:
		return fmt.Sprintf("Its refresh is failing and will be retried at %s; the connection is not revoked: %s.",
			timestamp.Of(r.RefreshAt), probe)
	}
	if due := c.DueAt(); !due.IsZero() && now.Sub(due) > overdueAfter {
		return fmt.Sprintf("It was due for a refresh at %s and has not been processed: "+
			"docs/operate/runbooks/schedule-silent.md.",
			timestamp.Of(due))
	}
	if c.Refresh.Unrenewable {
		return fmt.Sprintf("The portal issued no refresh token, so it ends at %s; have the patient reconnect then.",
			timestamp.Of(c.Refresh.RefreshAt))
	}
	if len(c.Exports) > 0 && c.Exports[0].FailureReason == export.TokenRefreshFailure {
		return "Its last export got no access token, but no refresh has failed. " + adviseLostTokens(of)
	}
	if len(c.Exports) > 0 && (c.Exports[0].Status == export.Failed || len(c.Exports[0].Damaged) > 0) {
		return fmt.Sprintf("No action needed for the connection. For its last export, run ctl export show %s -id "+
			"%s.", of, c.Exports[0].ID)
	}
	return "Nothing."
}

// adviseLostTokens returns the recommended action for a connection whose token row may be missing.
func adviseLostTokens(of string) string {
	return fmt.Sprintf("If its TOKENS row is missing, restore it: ctl restore tokens %s -table TABLE -moment TIME "+
		"(docs/operate/incidents.md, Tokens). Otherwise, have the patient reconnect.", of)
}

// damagedTokens is the value of connection.RefreshState.FailureClass for a token row that can't be decrypted.
const damagedTokens = "TOKENS.sealed"

// adviseDamaged returns the recommended action for a row with unreadable parts.
func adviseDamaged(at []fault.Spot) string {
	return fmt.Sprintf("Row %s can't be read at %s: repair that attribute, or restore the row from the table's backup.",
		at[0].Row, at[0].Attribute)
}
