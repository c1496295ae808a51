package attempt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/timestamp"
)

const (
	// facilityTime is the time in which a facility must return a record. keepTime is the time allowed for converting,
	// encrypting and storing the record. facilityLease covers both periods. If storing a record took longer than the
	// lease, workers would read it repeatedly.
	facilityTime  = 2 * time.Minute
	keepTime      = time.Minute
	facilityLease = facilityTime + keepTime
)

// authorize reads the chosen facilities' records, several at a time. A facility's failure does not affect the others.
func (w Worker) authorize(ctx context.Context, a Attempt) error {
	known, err := w.Store.Facilities(ctx, a.Tenant, a.ID)
	if err != nil {
		return fmt.Errorf("read facilities: %w", err)
	}
	var (
		group    errgroup.Group
		mu       sync.Mutex
		failures []error
	)
	group.SetLimit(maxConcurrent)
	for _, f := range known {
		if !isConnecting(f) || w.Now().Before(f.LeaseUntil) {
			continue
		}
		group.Go(func() error {
			if w.isLate(ctx) {
				return nil // The next run reads the remaining facilities.
			}
			if err := w.connect(ctx, a, f); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			}
			return nil
		})
	}
	_ = group.Wait() // Failures are collected separately.
	return errors.Join(append(failures, w.reschedule(ctx, a.Tenant, a.ID))...)
}

// isLate reports whether too little time is left to read another facility.
func (w Worker) isLate(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(w.Now()) < facilityLease
}

// connect reads a facility's record and creates a connection. It does nothing if another worker holds the facility's
// lease. An error is an internal failure, which is shown to the person as a failed facility.
func (w Worker) connect(ctx context.Context, a Attempt, f Facility) error {
	began := w.Now()
	f.LeaseUntil = began.Add(facilityLease)
	if err := w.Store.SaveFacility(ctx, a.Tenant, a.ID, f); err != nil {
		if errors.Is(err, fault.Conflict) {
			return nil
		}
		return fmt.Errorf("claim a facility: %w", err)
	}
	f.Rev++
	content, err := w.read(ctx, a, &f)
	if err == nil && f.Outcome == IsConnecting {
		keeping, cancel := context.WithTimeout(ctx, keepTime)
		err = w.conclude(keeping, a, &f, content)
		cancel()
	}
	if errors.Is(err, errTaken) {
		return nil
	}
	if err != nil {
		f.Outcome, f.Reason = HasFailed, ReasonInternal
	}
	var unstored error
	if f.Outcome == HasFailed {
		f.LeaseUntil = time.Time{}
		unstored = w.Store.SaveFacility(ctx, a.Tenant, a.ID, f)
		if unstored != nil && !errors.Is(unstored, fault.Conflict) {
			err = errors.Join(err, fmt.Errorf("store the failure of a facility: %w", unstored))
		}
	}
	if unstored == nil {
		w.SignIns.SignIn(ctx, facilitySignIn(a, f, w.Now()), a.ExternalID)
	}
	line := []slog.Attr{
		slog.String("org_id", a.Tenant.OrgID), slog.String("mode", string(a.Tenant.Mode)), slog.String("attempt_id", a.ID),
		slog.String("directory_id", f.ID), slog.String("outcome", string(f.Outcome)),
		slog.Int("documents", content.Documents),
		slog.Int64("ms", w.Now().Sub(began).Milliseconds()),
	}
	if f.Outcome == HasFailed {
		line = append(line, logx.Failed(), slog.String("reason", string(f.Reason)))
	}
	logx.Note(ctx, "tefca.facility", line...)
	return err
}

// facilitySignIn returns the request log's row for a facility that was connected or has failed.
func facilitySignIn(a Attempt, f Facility, now time.Time) requestlog.SignIn {
	row := requestlog.SignIn{
		Tenant: a.Tenant, AttemptID: a.ID, At: now, Kind: requestlog.TEFCA, Outcome: requestlog.Connected,
		RequestID: a.RequestID, DirectoryID: f.ID, Duration: now.Sub(a.CreatedAt), ConnectionID: f.Connected.ConnectionID,
	}
	if f.Outcome == HasFailed {
		row.Outcome, row.Cause = requestlog.Failed, string(f.Reason)
	}
	return row
}

// source is the result of reading a facility: either a record to store or the tokens with which to read the record.
type source struct {
	records.Content

	who tefca.Assertion
	set tokens.Set // ExpiresAt is zero if a record exists
}

// read fetches a facility's record. If the record can't be read for a known reason, read stores the reason in f.
func (w Worker) read(ctx context.Context, a Attempt, f *Facility) (source, error) {
	fail := func(reason Reason) (source, error) {
		f.Outcome, f.Reason = HasFailed, reason
		return source{}, nil
	}
	if !a.isVerified(w.Now()) {
		return fail(ReasonIdentity)
	}
	network := w.Networks[a.Tenant.Mode]
	if network == nil {
		return fail(ReasonUnavailable)
	}
	who, err := openAssertion(ctx, w.Sealer, a)
	if err != nil {
		return source{}, err
	}
	at, err := located(ctx, w.Sealer, a, *f)
	if err != nil {
		return source{}, err
	}
	asking, cancel := context.WithTimeout(ctx, facilityTime)
	defer cancel()
	found := source{who: who}
	if fhir, ok := network.(tefca.FHIRNetwork); ok && at.Access == tefca.FHIR {
		found.set, err = fhir.Open(asking, who, at)
	} else {
		found.Content, err = w.Reader.Read(asking, network, who, at)
	}
	if reason, known := reasonOf(err); known {
		return fail(reason)
	}
	if err != nil && asking.Err() != nil {
		return fail(ReasonUnavailable)
	}
	if err != nil {
		return source{}, fmt.Errorf("read a facility: %w", err)
	}
	return found, nil
}

// errTaken means that another worker has already processed the facility.
var errTaken = errors.New("the facility was dealt with")

// conclude creates the connection. If another attempt has since connected the same person to the facility, conclude
// reauthorises that connection.
func (w Worker) conclude(ctx context.Context, a Attempt, f *Facility, from source) error {
	isAgain := false
	return retry.OnConflict(ctx, retry.Tries, func() error {
		if isAgain {
			known, err := w.Store.Facilities(ctx, a.Tenant, a.ID)
			if err != nil {
				return fmt.Errorf("read facilities: %w", err)
			}
			if slices.ContainsFunc(known, func(now Facility) bool { return now.ID == f.ID && now.Rev != f.Rev }) {
				return errTaken
			}
		}
		isAgain = true
		return w.concludeOnce(ctx, a, f, from)
	})
}

func (w Worker) concludeOnce(ctx context.Context, a Attempt, f *Facility, from source) error {
	vault := vaultKey(from.who, a.ExternalID)
	known, erased, err := w.Store.Known(ctx, a.Tenant, vault, f.ID)
	if err != nil {
		return fmt.Errorf("look for a connection: %w", err)
	}
	end := Conclusion{AttemptID: a.ID, Known: known, Erased: erased}
	conn, version, err := w.connectionOf(ctx, a, *f, known)
	if err != nil {
		return err
	}
	if erased.After(a.CreatedAt) || conn.Refresh.Ended == connection.Disconnected &&
		conn.Refresh.EndedAt.After(a.CreatedAt) {
		f.Outcome, f.Reason = HasFailed, ReasonRefused // the organisation has since ended or erased the connection
		return nil
	}
	conn.Generation++
	conn.VaultKey, conn.PersonKey = vault, personKey(from.who.Issuer, from.who.Subject)
	set, held, err := w.keep(ctx, conn, from)
	if err != nil {
		return err
	}
	if err = w.complete(ctx, a, *f, &end, conn, set, version); err == nil {
		err = w.Store.Conclude(ctx, end)
	}
	if err != nil {
		if held != nil {
			// If deletion fails, the record is deleted later, either with the connection or by the bucket's lifecycle
			// rule.
			_ = w.Remover.Delete(context.WithoutCancel(ctx), conn.Tenant, conn.ID, *held)
		}
		return fmt.Errorf("conclude: %w", err)
	}
	*f = end.Facility
	logx.Add(ctx, slog.String("connection_id", conn.ID))
	for _, event := range end.Events {
		_ = w.Events.EnqueueEvent(ctx, event.Tenant, event.ID) // The sweeper resends a lost message.
	}
	return nil
}

// connectionOf returns the new or existing connection to authorise, and its token version.
func (w Worker) connectionOf(ctx context.Context, a Attempt, f Facility,
	known string,
) (connection.Connection, int64, error) {
	fresh := connection.Connection{
		ID: w.NewID(), Tenant: a.Tenant, PlatformType: connection.TEFCAPlatform, DirectoryID: f.ID, CreatedAt: w.Now(),
	}
	if known == "" {
		return fresh, 0, nil
	}
	conn, err := w.Store.Connection(ctx, a.Tenant, known)
	if errors.Is(err, fault.NotFound) { // The connection has been erased.
		return fresh, 0, nil
	}
	if err != nil {
		return connection.Connection{}, 0, fmt.Errorf("read connection: %w", err)
	}
	version, err := w.Store.TokenVersion(ctx, a.Tenant, known)
	if err != nil {
		return connection.Connection{}, 0, fmt.Errorf("read token version: %w", err)
	}
	return conn, version, nil
}

// keep creates a connection's token set and stores the record to which the token set refers.
func (w Worker) keep(ctx context.Context, conn connection.Connection,
	from source,
) (tokens.Set, *tokens.Records, error) {
	if !from.set.ExpiresAt.IsZero() {
		return from.set, nil, nil
	}
	content := from.Content
	content.Generation = conn.Generation
	if conn.Tenant.Mode == org.Test {
		content.Fixtures = w.Fixtures
	}
	held, err := w.Cache.Write(ctx, conn.Tenant, conn.ID, content)
	if err != nil {
		return tokens.Set{}, nil, fmt.Errorf("keep the record: %w", err)
	}
	return tokens.Set{Scope: tefca.Scope, AskedScope: tefca.Scope, ExpiresAt: held.Until, Records: &held}, &held, nil
}

// complete fills in the other rows that are stored together with an authorised connection.
func (w Worker) complete(ctx context.Context, a Attempt, f Facility, end *Conclusion, conn connection.Connection,
	set tokens.Set, version int64,
) error {
	now := w.Now()
	conn.Status, conn.Scope, conn.ConsentExpiresAt, conn.Refresh = connection.Authorized, tefca.Scope, time.Time{},
		connection.RefreshState{}
	conn = conn.EndingAt(set.ExpiresAt)
	if a.ExternalID != "" {
		conn.ExternalID = a.ExternalID
		conn.External = w.Hashing.Sign(connection.ExternalText(a.Tenant, a.ExternalID))
	}
	var err error
	if end.Tokens, err = w.Vault.Seal(ctx, a.Tenant, conn.ID, version+1, set); err != nil {
		return fmt.Errorf("seal tokens: %w", err)
	}
	event, err := webhook.NewEvent(conn.Tenant, webhook.ConnectionSucceeded, conn.ID, conn.Generation, now,
		webhook.ConnectionSuccess{
			OrgConnectionID: conn.ID, ConnectionStatus: string(conn.Status), PlatformType: conn.PlatformType,
			RequestID:  a.RequestID,
			ExternalID: a.ExternalID, ExternalState: a.ExternalState, Scope: conn.Scope,
			ConsentExpiresAt: timestamp.Of(conn.ConsentExpiresAt), TEFCADirectoryID: f.ID,
		})
	if err != nil {
		return fmt.Errorf("make event: %w", err)
	}
	warnings, err := refresh.WarnAtOnce(&conn, now)
	if err != nil {
		return fmt.Errorf("make event: %w", err)
	}
	end.Connection, end.Events = conn, append([]webhook.Event{event}, warnings...)
	end.Facility = f
	end.Facility.Outcome, end.Facility.Local, end.Facility.LeaseUntil = IsConnected, nil, time.Time{}
	end.Facility.Connected = Connected{ConnectionID: conn.ID, ConsentExpiresAt: conn.ConsentExpiresAt}
	return nil
}
