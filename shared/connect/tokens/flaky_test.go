package tokens_test

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/org"
)

var errLost = errors.New("connection reset")

// failure is a failed write's result. If done is true, the write took effect despite the error.
type failure struct {
	err  error
	done bool
}

// flaky is a token store whose calls fail as configured.
type flaky struct {
	tokens.Store

	lease     error
	leaseDone bool    // whether the failed lease took effect
	leased    func()  // called on every lease
	reads     []error // results to return from the next reads
	rotate    []failure
}

func (f *flaky) Tokens(ctx context.Context, of org.Tenant, id string) (tokens.Row, error) {
	if len(f.reads) > 0 {
		next := f.reads[0]
		f.reads = f.reads[1:]
		if next != nil {
			return tokens.Row{}, next
		}
	}
	return f.Store.Tokens(ctx, of, id)
}

func (f *flaky) LeaseTokens(ctx context.Context, row tokens.Row, now time.Time) error {
	if f.leaseDone {
		if err := f.Store.LeaseTokens(ctx, row, now); err != nil {
			return err
		}
	}
	if f.lease != nil {
		return f.lease
	}
	if f.leased != nil {
		defer f.leased()
	}
	return f.Store.LeaseTokens(ctx, row, now)
}

func (f *flaky) RotateTokens(ctx context.Context, row tokens.Row) error {
	if len(f.rotate) == 0 {
		return f.Store.RotateTokens(ctx, row)
	}
	next := f.rotate[0]
	f.rotate = f.rotate[1:]
	if next.done {
		if err := f.Store.RotateTokens(ctx, row); err != nil {
			return err
		}
	}
	return next.err
}
