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
	// TakeState removes and returns a state if the state exists, has not expired at now, and is bound to bindingHash.
	// Otherwise, TakeState doesn't remove the state and returns fault.NotFound. It then also returns the stored state
	// for logging, or the zero State if the state does not exist.
	TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (State, error)
}

// Take consumes the state that a returning browser presents. A state works once, and only in the browser that received
// it. If the state doesn't work, the log line contains the reason. If the state is known, strayed also adds the owner
// of the sign-in that the state would have completed.
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
		why = "state_unknown" // never created, already used, or expired for more than an hour
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
