package refresh_test

import (
	"errors"
	"time"

	"recordbridge/shared/connect/tokens"
)

// tell checks the outcome of an actor's token request and records any refusal.
func (a *actor) tell(got tokens.Usable, err error, began time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.checkSet(got, began)
		return
	}
	refusal, ok := errors.AsType[*tokens.RefusalError](err)
	if !ok {
		if errors.Is(err, tokens.ErrRefused) {
			a.failf("%s reports a refusal without a cause: %v", a.name, err)
		}
		return
	}
	refused := a.written[refusal.Version]
	withdrawn := a.portal.grants[refused.generation].withdrawn
	switch {
	case !a.refused:
		a.failf("%s reports a refusal, which the health system never gave it: %v", a.name, err)
	case a.portal.takes(refused):
		a.failf("%s reports the refusal of a living token: %v", a.name, err)
	case refusal.Cause == tokens.CauseInvalidGrant && !withdrawn:
		a.failf("%s takes a lost rotation for a withdrawn consent", a.name)
	case refusal.Cause == tokens.CauseInvalidGrant && a.doubtful:
		a.failf("%s forgot that the refresh token had been used without an end", a.name)
	case refusal.Cause == tokens.CauseRotationLost && a.loose[refused] == 0:
		a.failf("%s reports a lost rotation of %v, but every use came to its end", a.name, refused)
	}
	a.told[refused]++
}

func (a *actor) checkSet(got tokens.Usable, began time.Time) {
	if !got.Set.RefreshToken.Empty() && a.written[got.Version] != read(got.Set) {
		a.failf("%s handed out refresh token %v as version %d, which was never stored", a.name, read(got.Set), got.Version)
	}
	if got.Overdue != nil && (errors.Is(got.Overdue, tokens.ErrRefused) || !began.Before(got.Set.ExpiresAt)) {
		a.failf("%s handed out an overdue set that had expired or was refused: %v", a.name, got.Overdue)
	}
}
