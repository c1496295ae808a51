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

// States stores states.
type States interface {
	// TakeState removes and returns a state if it exists, has not expired at now, and is bound to bindingHash. Otherwise
	// it returns fault.NotFound and removes nothing; the State is then the stored one, for the log, or zero.
	TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (State, error)
}

// Take finds the state that a return presents; it works once, and only in the browser that received it. If the state
// does not work, the log line states the reason, and strayed adds whose sign-in it would have completed, if known.
func Take(
	ctx context.Context, states States, value string, cookie func(name string) string, now time.Time, strayed func(State),
) (State, error) {
	if value == "" {
		return State{},
			fault.BadRequest("This address is not complete. Return to the application and try again.").About("state")
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
		why = "state_unknown" // never made, already used, or expired for more than an hour
	case !now.Before(state.ExpiresAt):
		why = "state_expired"
	}
	if state.AttemptID != "" {
		strayed(state)
	}
	logx.Add(ctx, slog.String("ended", why))
	return State{}, fault.BadRequest("This sign-in was used before, has expired, or was begun in another browser. " +
		"Return to the application and try again.").About("state").Because(
		fault.Spot{Step: fault.StepCallback, Class: why}.Failed(err))
}
