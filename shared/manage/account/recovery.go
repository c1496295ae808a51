package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// RecoveryCodes holds the keyed hashes of an account's unused recovery codes (docs/adr/0044-recovery-and-leaving.md).
type RecoveryCodes struct {
	Marks  []secret.Mark
	MadeAt time.Time
	Rev    int64 // compare-and-swap revision; 0 if the account never had codes
}

// RecoveryWait is the time between the request for a recovery and the removal of the account's second factors.
const RecoveryWait = 72 * time.Hour

// Recovery is an operator's removal of an account's second factors, for an owner who has lost all of them
// (docs/adr/0044-recovery-and-leaving.md). It takes effect at the first sign-in with a code by e-mail after AppliesAt.
type Recovery struct {
	AccountID   string
	Actor       string // that started it
	RequestedAt time.Time
	AppliesAt   time.Time
	EndedAt     time.Time // time at which it was stopped or applied; zero until then
	Rev         int64     // compare-and-swap revision; 0 before it is stored
}

// IsOpen reports whether the recovery has been neither stopped nor applied.
func (r Recovery) IsOpen() bool { return !r.AppliesAt.IsZero() && r.EndedAt.IsZero() }

// IsDue reports whether the recovery is open and its waiting time has passed.
func (r Recovery) IsDue(now time.Time) bool { return r.IsOpen() && !now.Before(r.AppliesAt) }

// RecoveryRows stores recoveries, one for each account (store.Accounts).
type RecoveryRows interface {
	// Recovery reads an account's latest recovery, consistently; fault.NotFound.
	Recovery(ctx context.Context, accountID string) (Recovery, error)
	// SaveRecovery replaces revision r.Rev, or creates a row if that is 0; fault.Conflict.
	SaveRecovery(ctx context.Context, r Recovery) error
}

// OpenRecovery reads an account's recovery if one is open. Otherwise the result only serves as the base for a new one.
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
