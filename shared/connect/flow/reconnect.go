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

// reconnect stores a new authorisation in the connection that the attempt renews. If rows change concurrently,
// reconnect rereads them and retries. After several failed tries, reconnect discards the tokens.
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

// renew makes one of reconnect's attempts to store the authorisation. It returns fault.Conflict if the connection or
// its tokens have changed since they were read.
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
		// a connection that the organisation ended in the meantime stays ended
		return connection.Connection{}, failed(causeGivenUp, nil)
	}
	version, err := c.Store.TokenVersion(ctx, attempt.Tenant, conn.ID)
	if err != nil {
		return connection.Connection{}, fmt.Errorf("read token version: %w", err)
	}
	c.authorize(&conn, attempt, set, c.Now())
	return conn, c.conclude(ctx, attempt, conn, set, version+1)
}

// samePatient reports whether the patient who signed in is the connection's patient. A rejected connection without a
// patient accepts any patient, because no record has ever been linked to it. For any other connection, samePatient
// returns false if either patient is unknown.
func (c Completer) samePatient(conn connection.Connection, attempt Attempt, set tokens.Set) bool {
	if len(conn.Patient.Sum) == 0 {
		return conn.Status == connection.Rejected
	}
	return !set.PatientID.Empty() && c.Hashing.Check(patientText(attempt, set), conn.Patient)
}
