package binding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

// States keeps states.
type States interface {
	// TakeState removes a state and returns it, if it is there, not expired at now and bound to bindingHash; else
	// fault.NotFound and nothing is removed. The State is then what is there all the same, for the log, or zero.
	TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (State, error)
}

// Take finds the state that a return brings, once and only for the browser that it was given to. Of one that does not
// work, the log line tells why; strayed puts on it whose sign-in it would have ended, as far as that is known.
func Take(
	ctx context.Context, states States, value string, cookie func(name string) string, now time.Time, strayed func(State),
) (State, error) {
	if value == "" {
		return State{},
			fault.BadRequest("This link is incomplete. Return to the application and try again.").About("state")
	}
	state, err := states.TakeState(ctx, Hash(value), Hash(cookie(CookieName(value))), now)
	if err == nil {
		return state, nil
	}
	if !errors.Is(err, fault.NotFound) {
		return State{}, fmt.Errorf("take state: %w", err)
	}
	why := "other_browser"
	switch {
	case state.AttemptID == "":
		why = "state_unknown" // never made, used before, or expired for more than an hour
	case !now.Before(state.ExpiresAt):
		why = "state_expired"
	}
	if state.AttemptID != "" {
		strayed(state)
	}
	logx.Add(ctx, slog.String("ended", why))
	return State{}, fault.BadRequest("This sign-in was already used, has expired, or was started in another browser. " +
		"Return to the application and try again.").About("state").Because(
		fault.Spot{Step: fault.StepCallback, Class: why}.Failed(err))
}
