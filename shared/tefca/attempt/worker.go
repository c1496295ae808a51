package attempt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

// maxConcurrent is the maximum number of facilities per attempt that are read concurrently.
const maxConcurrent = 4

// WorkStore stores the worker's results.
type WorkStore interface {
	Facilities
	Saver

	// SaveFacility creates an attempt's facility, or replaces revision f.Rev of the facility. It returns fault.Conflict
	// if the facility already exists or has changed.
	SaveFacility(ctx context.Context, tenant org.Tenant, attemptID string, f Facility) error
	// Known returns the ID of the connection stored for a vault key and facility, or "" if there is none. If such a
	// connection was erased within the last attempt lifetime, erased is the time of the erasure.
	Known(ctx context.Context, tenant org.Tenant, vaultKey, facilityID string) (connectionID string,
		erased time.Time, err error)
	// Connection returns a connection, using a consistent read. It returns fault.NotFound if the connection does not
	// exist.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
	// TokenVersion returns the version of a connection's token set, using a consistent read. The version is available
	// even for an ended connection, and is 0 if the connection never had tokens.
	TokenVersion(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error)
	// Conclude stores a conclusion in one transaction. It returns fault.Conflict if a row has changed since it was read
	// or if the person has been connected to the facility in the meantime.
	Conclude(ctx context.Context, c Conclusion) error
}

// Reader reads a person's record from a facility; fetch.Reader implements it. Network failures are returned as errors
// from package tefca. All other errors are internal.
type Reader interface {
	Read(ctx context.Context, network tefca.Network, who tefca.Assertion, at tefca.Facility) (records.Content, error)
}

// Cache stores records; records.Cache implements it.
type Cache interface {
	Write(ctx context.Context, tenant org.Tenant, connectionID string, content records.Content) (tokens.Records, error)
}

// Remover deletes stored records; records.Remover implements it.
type Remover interface {
	Delete(ctx context.Context, tenant org.Tenant, connectionID string, held tokens.Records) error
}

// Events sends messages about events to the webhook worker.
type Events interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Worker processes attempts that are due. All fields except SignIns are required.
type Worker struct {
	Store    WorkStore
	Networks map[org.Mode]tefca.Network // nil in modes without TEFCA
	Reader   Reader
	Cache    Cache
	Remover  Remover
	Fixtures map[string]records.Feed // synthetic records to add to test mode's records, by name
	Sealer   tokens.Sealer           // uses AssertionPurpose
	Vault    tokens.Vault
	Hashing  secret.Keyring // keys for hashing external IDs
	Events   Events
	SignIns  requestlog.Recorder
	Now      func() time.Time
	NewID    ids.Source
}

// Process advances an attempt if it is due. Depending on the attempt's status, it queries the network for facilities,
// reads the chosen facilities' records, or deletes the expired identity. Any number of workers may call Process
// concurrently. Errors are internal and contain no data about the person.
func (w Worker) Process(ctx context.Context, tenant org.Tenant, id string) error {
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

// reschedule stores the time at which an attempt is next due. An attempt is due when the first lease on a chosen
// facility expires or, if there are no leases, when the identity expires. An expired identity is deleted. The sweeper
// runs every minute.
func (w Worker) reschedule(ctx context.Context, tenant org.Tenant, id string) error {
	var outcome tally.Outcome
	err := retry.OnConflict(ctx, retry.Tries, func() error {
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
			if err = w.deleteLocals(ctx, a, known); err != nil {
				return err
			}
			a.Assertion, a.DueAt = nil, time.Time{}
		} else {
			a.DueAt = dueAt(a, known, now)
		}
		if outcome = ""; !a.Counted {
			outcome = outcomeOf(known)
			a.Counted = outcome != ""
		}
		return w.Store.SaveAttempt(ctx, a)
	})
	if err != nil {
		return err
	}
	tally.Count(ctx, outcome)
	return nil
}

// outcomeOf returns the sign-in's outcome once a facility is connected or every chosen facility has failed, and ""
// before. If all have failed, the service's own failures take precedence.
func outcomeOf(known []Facility) tally.Outcome {
	var isPending bool
	var failed tally.Outcome
	for _, f := range known {
		switch f.Outcome {
		case IsConnected:
			return tally.Connected
		case IsConnecting:
			isPending = true
		case HasFailed:
			if failed != tally.Service {
				failed = tally.OutcomeOfCause(string(f.Reason))
			}
		}
	}
	if isPending {
		return ""
	}
	return failed
}

// dueAt returns the time at which a located attempt is next due.
func dueAt(a Attempt, known []Facility, now time.Time) time.Time {
	at := a.IdentityEnds
	for _, f := range known {
		if isConnecting(f) {
			at = earlier(at, latest(f.LeaseUntil, now))
		}
	}
	return at
}

// deleteLocals deletes the facilities' identifiers for the person.
func (w Worker) deleteLocals(ctx context.Context, a Attempt, known []Facility) error {
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
