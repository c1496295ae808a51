package tokens

import (
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// ErrRefused says that the EHR definitely refused the refresh token: consent was revoked or has expired. Any other
// failure of a refresh is transient and never means that: only this ends a connection (docs/develop/architecture.md, "Data"). A
// Manager's refusals are of type *RefusalError, which says more.
var ErrRefused = errors.New("the refresh token was refused")

// ErrNothingToRenew says that the EHR gave no refresh token. It is no refusal: no answer of the EHR says that the
// consent has ended. A Manager's are of type *UnrenewableError, which says more.
var ErrNothingToRenew = errors.New("there is no refresh token")

// UnrenewableError says that one version of a token set has no refresh token, so that nothing follows its access token.
// It stands for that version alone, as a RefusalError does.
type UnrenewableError struct {
	Version   int64
	ExpiresAt time.Time // of the access token; it may lie ahead
}

// Error implements error.
func (u *UnrenewableError) Error() string {
	return fmt.Sprintf("%v in version %d", ErrNothingToRenew, u.Version)
}

// Unwrap makes every UnrenewableError an ErrNothingToRenew.
func (u *UnrenewableError) Unwrap() error { return ErrNothingToRenew }

// Cause says why a refresh token was refused.
type Cause string

// The causes.
const (
	// CauseInvalidGrant: the stored refresh token had not been used since it was stored.
	CauseInvalidGrant Cause = "invalid_grant"
	// CauseRotationLost: an earlier use of it came to no end that we know of, so its successor may have been lost.
	CauseRotationLost Cause = "rotation_lost"
)

// RefusalError is the EHR's definite refusal of the refresh token of one version of a token set. It stands for that
// version alone: who revokes because of it makes the write conditional on the version, since the set may have been
// replaced by a reconnect or by a worker that was slow. It holds nothing of the EHR's answer.
type RefusalError struct {
	Cause         Cause
	Version       int64
	TokenEndpoint string // that answered; never part of a text
}

// Error implements error.
func (r *RefusalError) Error() string {
	return fmt.Sprintf("%v: %s of version %d", ErrRefused, r.Cause, r.Version)
}

// Unwrap makes every RefusalError an ErrRefused.
func (r *RefusalError) Unwrap() error { return ErrRefused }

// refusalOf makes the refusal of the set in row, as the row was before it was leased, by endpoint.
func refusalOf(row Row, endpoint string) *RefusalError {
	if row.RefreshStartedAt.IsZero() {
		return &RefusalError{Cause: CauseInvalidGrant, Version: row.Version, TokenEndpoint: endpoint}
	}
	return &RefusalError{Cause: CauseRotationLost, Version: row.Version, TokenEndpoint: endpoint}
}

// isUnspent reports whether a failed refresh certainly left the refresh token unused: the error has the method Unspent,
// and it says so. After anything else the EHR may have rotated it.
func isUnspent(err error) bool {
	failure, ok := errors.AsType[interface {
		error
		Unspent() bool
	}](err)
	return ok && failure.Unspent()
}

// opaque keeps a failure on the way to the EHR from passing for an answer that a Manager gives about the tokens: that a
// key of our client is missing must not look as if the tokens were.
func opaque(err error) error {
	for _, mistakable := range []error{fault.NotFound, fault.Conflict, ErrNothingToRenew} {
		if errors.Is(err, mistakable) && !errors.Is(err, ErrRefused) {
			return fault.SpotOf(err).Failed(&opaqueError{cause: err})
		}
	}
	return err
}

// opaqueError shows nothing of its cause but the text and whether the refresh token was used.
type opaqueError struct{ cause error }

// Error implements error.
func (o *opaqueError) Error() string { return o.cause.Error() }

// Unspent reports what the cause does.
func (o *opaqueError) Unspent() bool { return isUnspent(o.cause) }
