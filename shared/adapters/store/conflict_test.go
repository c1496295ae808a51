package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/words/fault"
)

// busy is a table whose first writes conflict with another transaction. The embedded AWS never causes such conflicts,
// because it serialises writes.
type busy struct {
	*dynamodb.Client

	failures []error // errors to return from the next writes, in order
	writes   int
}

func (b *busy) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	if err := b.meet(); err != nil {
		return nil, err
	}
	return b.Client.TransactWriteItems(ctx, in, o...)
}

func (b *busy) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	if err := b.meet(); err != nil {
		return nil, err
	}
	return b.Client.UpdateItem(ctx, in, o...)
}

func (b *busy) meet() error {
	b.writes++
	if len(b.failures) == 0 {
		return nil
	}
	failure := b.failures[0]
	b.failures = b.failures[1:]
	return failure
}

func cancelled(codes ...string) error {
	reasons := make([]types.CancellationReason, 0, len(codes))
	for _, code := range codes {
		reasons = append(reasons, types.CancellationReason{Code: &code})
	}
	return &types.TransactionCanceledException{CancellationReasons: reasons}
}

func repeated(err error, n int) []error {
	all := make([]error, n)
	for i := range all {
		all[i] = err
	}
	return all
}

func TestStoreRetriesWriteAfterTransactionConflict(t *testing.T) {
	t.Parallel()
	conflict := cancelled("None", "TransactionConflict")
	single := &types.TransactionConflictException{}
	throttled := cancelled("ThrottlingError", "TransactionConflict")
	other := errors.New("no route to the database")
	tests := []struct {
		name     string
		failures []error
		writes   int
		want     error
		wait     time.Duration // maximum wait; the minimum is half of it
	}{
		{"a transaction that meets one", repeated(conflict, 1), 2, nil, 10 * time.Millisecond},
		{"a transaction that meets five", repeated(conflict, 5), 6, nil, 310 * time.Millisecond},
		{"a transaction that always meets one", repeated(conflict, 9), 6, fault.Conflict, 310 * time.Millisecond},
		{
			"a condition that fails too",
			[]error{cancelled("ConditionalCheckFailed", "TransactionConflict")},
			1,
			fault.Conflict, 0,
		},
		{"a throttled transaction", []error{throttled}, 1, throttled, 0},
		{"another failure", []error{other}, 1, other, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStores(t)
				db := &busy{Client: s.db, failures: test.failures}
				started := time.Now()
				err := over(db, s.names).flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant))
				if !errors.Is(err, test.want) {
					t.Errorf("error = %v, want %v", err, test.want)
				}
				if took := time.Since(started); db.writes != test.writes || took < test.wait/2 || took > test.wait {
					t.Errorf("%d writes in %v, want %d in %v", db.writes, time.Since(started), test.writes, test.wait)
				}
			})
		})
	}
	t.Run("a single row", func(t *testing.T) {
		t.Parallel()
		s := newStores(t)
		s.connect(t, tenant)
		db := &busy{Client: s.db, failures: repeated(single, 2)}
		if err := over(db, s.names).tokens.LeaseTokens(t.Context(), leased("owner", 1, time.Time{}), now); err != nil {
			t.Errorf("lease: %v", err)
		}
		if db.writes != 3 {
			t.Errorf("%d writes, want 3", db.writes)
		}
	})
}

func TestStoreStopsRetryingWhenContextIsDone(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	db := &busy{Client: s.db, failures: repeated(cancelled("TransactionConflict"), 9)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := over(db, s.names).flow.BeginAttempt(ctx, attemptOf(tenant), stateOf(tenant))
	if !errors.Is(err, context.Canceled) || db.writes != 1 {
		t.Errorf("error = %v after %d writes, want context.Canceled after 1", err, db.writes)
	}
}
