package flow

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
)

// reconnect stores a new authorisation under the connection that the attempt was begun for. It reads again what
// others change meanwhile; after some tries it gives the tokens up.
func (c Completer) reconnect(ctx context.Context, attempt Attempt, set tokens.Set) (connection.Connection, error) {
	var conn connection.Connection
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		conn, err = c.renew(ctx, attempt, set)
		return err
	})
	if fault.IsStale(err) {
		return connection.Connection{}, failed(causeTryAgain, err)
	}
	return conn, err
}

// renew is one try of reconnect; fault.Conflict when the connection or its tokens changed while it decided.
func (c Completer) renew(ctx context.Context, attempt Attempt, set tokens.Set) (connection.Connection, error) {
	conn, err := c.Connections.Connection(ctx, attempt.Tenant, attempt.Reconnect)
	if errors.Is(err, fault.NotFound) {
		return connection.Connection{}, failed(causeUnknown, err)
	}
	if err != nil {
		return connection.Connection{}, fmt.Errorf("read connection: %w", err)
	}
	if conn.EndpointID != attempt.EndpointID || !c.samePatient(conn, attempt, set) {
		return connection.Connection{}, failed(causeWrongPatient, nil)
	}
	if conn.Refresh.Ended == connection.Disconnected && attempt.WasEnded != connection.Disconnected {
		return connection.Connection{}, failed(causeGivenUp, nil) // what the organisation has ended since, stays ended
	}
	version, err := c.Store.TokenVersion(ctx, attempt.Tenant, conn.ID)
	if err != nil {
		return connection.Connection{}, fmt.Errorf("read token version: %w", err)
	}
	c.authorize(&conn, attempt, set, c.Now())
	return conn, c.conclude(ctx, attempt, conn, set, version+1)
}

// samePatient reports whether the patient who signed in is the one of the connection. A patient who is not known, now
// or then, is never the same. Only a rejected connection has no patient yet, since no record was ever linked to it.
func (c Completer) samePatient(conn connection.Connection, attempt Attempt, set tokens.Set) bool {
	if len(conn.Patient.Sum) == 0 {
		return conn.Status == connection.Rejected
	}
	return !set.PatientID.Empty() && c.Hashing.Check(patientText(attempt, set), conn.Patient)
}
