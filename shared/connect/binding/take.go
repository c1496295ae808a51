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

// States stores the states of sign-in attempts in progress.
type States interface {
	// TakeState removes and returns a state if it exists, has not expired at now, and is bound to bindingHash. If any
	// condition fails, TakeState retains the state and returns fault.NotFound. For logging, TakeState also returns the
	// stored state in this case, or the zero State if none exists.
	TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (State, error)
}

// Take consumes the state that a returning browser presents. A state can be used once, and only in the browser that
// received it. If Take rejects the state, the log line contains the reason. If the rejected state is known, strayed
// also logs the owner of the sign-in that the state would have completed.
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
		why = "state_unknown" // the state was never created, was already used, or expired over an hour ago
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
