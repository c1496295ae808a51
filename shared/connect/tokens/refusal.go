package tokens

import (
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// ErrRefused means that the EHR definitely refused the refresh token, because consent was revoked or has expired. Any
// other refresh failure is transient. Only a refusal ends a connection (docs/develop/architecture.md, "Data"). Manager
// wraps ErrRefused in a *RefusalError with details.
var ErrRefused = errors.New("the refresh token was refused")

// ErrNothingToRenew means that the EHR did not issue a refresh token. ErrNothingToRenew is not a refusal, because no
// response from the EHR states that consent has ended. Manager wraps ErrNothingToRenew in an *UnrenewableError with
// details.
var ErrNothingToRenew = errors.New("there is no refresh token")

// UnrenewableError reports that a version of a token set has no refresh token, so its access token can't be replaced.
// Like a RefusalError, an UnrenewableError applies only to that version of the token set.
type UnrenewableError struct {
	Version   int64
	ExpiresAt time.Time // expiry of the access token; may be in the future
}

// Error implements error.
func (u *UnrenewableError) Error() string {
	return fmt.Sprintf("%v in version %d", ErrNothingToRenew, u.Version)
}

// Unwrap returns ErrNothingToRenew.
func (u *UnrenewableError) Unwrap() error { return ErrNothingToRenew }

// Cause is the reason a refresh token was refused.
type Cause string

// Causes of a refused refresh token.
const (
	// CauseInvalidGrant means that the refused refresh token had not been used since it was stored.
	CauseInvalidGrant Cause = "invalid_grant"
	// CauseRotationLost means that an earlier use of the refresh token had an unknown outcome, so its successor may
	// have been lost.
	CauseRotationLost Cause = "rotation_lost"
)

// RefusalError reports that the EHR definitely refused the refresh token in one version of a token set. The refusal
// applies only to that version of the token set. A caller that revokes the connection must make the write conditional
// on the version, because a reconnect or a slow worker may have replaced the set. A RefusalError contains no part of
// the EHR's response.
type RefusalError struct {
	Cause         Cause
	Version       int64
	TokenEndpoint string // URL of the endpoint that refused the token; not included in the error's text
}

// Error implements error.
func (r *RefusalError) Error() string {
	return fmt.Sprintf("%v: %s of version %d", ErrRefused, r.Cause, r.Version)
}

// Unwrap returns ErrRefused.
func (r *RefusalError) Unwrap() error { return ErrRefused }

// refusalOf returns the endpoint's refusal of the row's token set. The row must be as it was before the lease, which
// sets RefreshStartedAt.
func refusalOf(row Row, endpoint string) *RefusalError {
	if row.RefreshStartedAt.IsZero() {
		return &RefusalError{Cause: CauseInvalidGrant, Version: row.Version, TokenEndpoint: endpoint}
	}
	return &RefusalError{Cause: CauseRotationLost, Version: row.Version, TokenEndpoint: endpoint}
}

// isUnspent reports whether err has an Unspent method that returns true, meaning that the refresh token was not used.
// After any other error, the EHR may have rotated the token.
func isUnspent(err error) bool {
	failure, ok := errors.AsType[interface {
		error
		Unspent() bool
	}](err)
	return ok && failure.Unspent()
}

// opaque hides an error's kind if callers could mistake the error for Manager's own verdict on the tokens. For example,
// a caller must not mistake a missing client key for missing tokens.
func opaque(err error) error {
	for _, mistakable := range []error{fault.NotFound, fault.Conflict, ErrNothingToRenew} {
		if errors.Is(err, mistakable) && !errors.Is(err, ErrRefused) {
			return fault.SpotOf(err).Failed(&opaqueError{cause: err})
		}
	}
	return err
}

// opaqueError exposes only its cause's text and whether the refresh token was used.
type opaqueError struct{ cause error }

// Error implements error.
func (o *opaqueError) Error() string { return o.cause.Error() }

// Unspent reports whether the refresh token was left unused.
func (o *opaqueError) Unspent() bool { return isUnspent(o.cause) }
