package incident

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/infra/drill/scene"
)

// tokensLost stages the loss of two connections' tokens. One connection's export fails. The other connection is idle,
// so its tokens can be restored.
func tokensLost(ctx context.Context, s *scene.Scene) (Staged, error) {
	if err := s.KeepHistory(ctx); err != nil {
		return Staged{}, err
	}
	exporting, err := s.ConnectAs(ctx, s.Sandbox.Personas[0].ID)
	if err != nil {
		return Staged{}, err
	}
	idle, err := s.ConnectAs(ctx, s.Sandbox.Personas[1].ID)
	if err != nil {
		return Staged{}, err
	}
	moment := time.Now().Truncate(time.Second).Add(time.Second)
	if err = scene.Wait(ctx, func(context.Context) error { return before(moment) }); err != nil {
		return Staged{}, err
	}
	s.Set("MOMENT", moment.UTC().Format(time.RFC3339))
	if err = errors.Join(s.LoseTokens(ctx, exporting), s.LoseTokens(ctx, idle)); err != nil {
		return Staged{}, err
	}
	task, err := s.Export(ctx, exporting)
	if err != nil {
		return Staged{}, err
	}
	s.Set("TASK", task)
	s.Set("ID", exporting)
	return Staged{
		Told: func(context.Context) (string, error) { return s.Line("msg=exportworker.message", "task_id="+task) },
		Mended: func(ctx context.Context) error {
			if n, err := s.Received(ctx, "patient.authorization_revoked"); err != nil || n == 0 {
				return fmt.Errorf("the organisation did not hear of the ended connection: %w", err)
			}
			task, err := s.Export(ctx, idle)
			if err != nil {
				return err
			}
			return exported(ctx, s, task)
		},
	}, nil
}

// before returns an error until a moment has passed.
func before(moment time.Time) error {
	if time.Now().After(moment) {
		return nil
	}
	return errors.New("the moment has not passed")
}
