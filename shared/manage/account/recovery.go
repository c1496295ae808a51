package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// RecoveryCodes holds keyed hashes of an account's unused recovery codes (docs/adr/0044-recovery-and-leaving.md).
type RecoveryCodes struct {
	Marks  []secret.Mark
	MadeAt time.Time
	Rev    int64 // revision for compare-and-swap writes; 0 if the account has never had codes
}

// RecoveryWait is the time between an operator's request for a recovery and the removal of the account's second
// factors.
const RecoveryWait = 72 * time.Hour

// Recovery is an operator's removal of an owner's second factors after the owner has lost them all
// (docs/adr/0044-recovery-and-leaving.md). The recovery takes effect when the owner first signs in with an emailed code
// after AppliesAt.
type Recovery struct {
	AccountID   string
	Actor       string // actor who started the recovery
	RequestedAt time.Time
	AppliesAt   time.Time
	EndedAt     time.Time // when the recovery was stopped or applied; zero while it is open
	Rev         int64     // revision for compare-and-swap writes; 0 before the recovery is stored
}

// IsOpen reports whether the recovery is neither stopped nor applied.
func (r Recovery) IsOpen() bool { return !r.AppliesAt.IsZero() && r.EndedAt.IsZero() }

// IsDue reports whether the recovery is open and its waiting period has ended.
func (r Recovery) IsDue(now time.Time) bool { return r.IsOpen() && !now.Before(r.AppliesAt) }

// RecoveryRows stores recoveries, at most one per account. store.Accounts implements it.
type RecoveryRows interface {
	// Recovery reads the latest recovery of an account with a consistent read. It returns fault.NotFound if the account
	// has no recovery.
	Recovery(ctx context.Context, accountID string) (Recovery, error)
	// SaveRecovery replaces the recovery if its stored revision is r.Rev, or creates it if r.Rev is 0. It returns
	// fault.Conflict if the stored revision differs.
	SaveRecovery(ctx context.Context, r Recovery) error
}

// OpenRecovery reads the open recovery of an account. If there is none, OpenRecovery returns an empty Recovery with the
// account's ID and the stored revision, from which a new one can be created.
func OpenRecovery(ctx context.Context, rows RecoveryRows, accountID string) (Recovery, error) {
	r, err := rows.Recovery(ctx, accountID)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return Recovery{}, fmt.Errorf("read recovery: %w", err)
	}
	if !r.IsOpen() {
		return Recovery{AccountID: accountID, Rev: r.Rev}, nil
	}
	return r, nil
}
