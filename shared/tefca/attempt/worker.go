package attempt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

// sideBySide is the number of facilities of one attempt that are read concurrently.
const sideBySide = 4

// WorkStore keeps what the worker does.
type WorkStore interface {
	Facilities
	Saver

	// SaveFacility creates a facility of an attempt, or replaces revision f.Rev; fault.Conflict when there
	// is one, or it has changed.
	SaveFacility(ctx context.Context, tenant org.Tenant, attemptID string, f Facility) error
	// Known is the connection that a vault key has named for a facility; empty for none. Then erased is when one was
	// erased, if that is less than the life of an attempt ago.
	Known(ctx context.Context, tenant org.Tenant, vaultKey, facilityID string) (connectionID string,
		erased time.Time, err error)
	// Connection reads a connection, consistently; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
	// TokenVersion reads the version of a connection's token set, also of one that was ended, consistently;
	// 0 when it never had any.
	TokenVersion(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error)
	// Conclude stores a conclusion in one transaction; fault.Conflict when a row that it replaces has changed since it was
	// read, or the person has got a connection at the facility since.
	Conclude(ctx context.Context, c Conclusion) error
}

// Reader reads what a facility has of a person (fetch.Reader). An error is the network's, or of
// another kind where it is ours.
type Reader interface {
	Read(ctx context.Context, network tefca.Network, who tefca.Assertion, at tefca.Facility) (records.Content, error)
}

// Cache keeps records (records.Cache).
type Cache interface {
	Write(ctx context.Context, tenant org.Tenant, connectionID string, content records.Content) (tokens.Records, error)
}

// Remover removes records (records.Remover).
type Remover interface {
	Delete(ctx context.Context, tenant org.Tenant, connectionID string, held tokens.Records) error
}

// Events tells the webhook worker about an event.
type Events interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Worker does what is due of attempts. Every field is needed.
type Worker struct {
	Store    WorkStore
	Networks map[org.Mode]tefca.Network // nil for a mode that has no attempts
	Reader   Reader
	Cache    Cache
	Remover  Remover
	Fixtures map[string]records.Feed // synthetic records that are kept beside those of test mode, by name
	Sealer   tokens.Sealer           // of AssertionPurpose
	Vault    tokens.Vault
	Hashing  secret.Keyring // for external ids
	Events   Events
	Now      func() time.Time
	NewID    ids.Source
}

// Look does what is due of an attempt: it asks the network who has records, reads those of the facilities that were
// chosen, and removes the identity when it has ended. Any number of workers may look at once. An error is our own
// failure, and says nothing of the person.
func (w Worker) Look(ctx context.Context, tenant org.Tenant, id string) error {
	a, err := w.Store.Attempt(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read attempt: %w", err)
	}
	note(ctx, a)
	switch {
	case a.DueAt.IsZero():
		return nil
	case a.Status == Locating:
		return w.locate(ctx, a)
	case a.Status == Located:
		return w.authorize(ctx, a)
	}
	return nil
}

// reschedule writes down when somebody has to look at an attempt again: as soon as a chosen facility is nobody's, else
// when the identity ends; then it removes the identity. The sweeper looks every minute.
func (w Worker) reschedule(ctx context.Context, tenant org.Tenant, id string) error {
	return retry.OnConflict(ctx, retry.Tries, func() error {
		a, err := w.Store.Attempt(ctx, tenant, id)
		if err != nil {
			return fmt.Errorf("read attempt: %w", err)
		}
		known, err := w.Store.Facilities(ctx, tenant, id)
		if err != nil {
			return fmt.Errorf("read facilities: %w", err)
		}
		now := w.Now()
		if !slices.ContainsFunc(known, isConnecting) && !a.isVerified(now) {
			if err = w.forget(ctx, a, known); err != nil {
				return err
			}
			a.Assertion, a.DueAt = nil, time.Time{}
		} else {
			a.DueAt = dueAt(a, known, now)
		}
		return w.Store.SaveAttempt(ctx, a)
	})
}

// dueAt is when somebody has to look at a located attempt next.
func dueAt(a Attempt, known []Facility, now time.Time) time.Time {
	at := a.IdentityEnds
	for _, f := range known {
		if isConnecting(f) {
			at = earlier(at, latest(f.LeaseUntil, now))
		}
	}
	return at
}

// forget removes what facilities know the person by.
func (w Worker) forget(ctx context.Context, a Attempt, known []Facility) error {
	for _, f := range known {
		if len(f.Local) == 0 {
			continue
		}
		f.Local = nil
		if err := w.Store.SaveFacility(ctx, a.Tenant, a.ID, f); err != nil {
			return fmt.Errorf("forget the person at a facility: %w", err)
		}
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
