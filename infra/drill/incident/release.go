package incident

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"recordbridge/infra/drill/scene"
)

// release makes a release of functions live, in which a variable is missing in each function's environment.
func release(ctx context.Context, s *scene.Scene, variable string, folders map[string]string) error {
	names := make([]string, 0, len(folders))
	for function, folder := range folders {
		before, err := filepath.Abs(filepath.Join(s.Root, "build", folder, "bootstrap"))
		if err != nil {
			return err
		}
		script := fmt.Sprintf("#!/bin/sh\nexec env -u %s '%s'\n", variable, before)
		if err := s.Release(ctx, function, script); err != nil {
			return err
		}
		names = append(names, function)
	}
	s.Set("FUNCTIONS", strings.Join(names, " "))
	return nil
}

// releaseBad stages a release of connect that doesn't start.
func releaseBad(ctx context.Context, s *scene.Scene) (Staged, error) {
	if err := release(ctx, s, "CONTROL_TABLE", map[string]string{"ConnectFunction": "connect"}); err != nil {
		return Staged{}, err
	}
	if _, err := s.Connect(ctx); err == nil {
		return Staged{}, errors.New("the patient connected")
	}
	return Staged{
		Told: func(context.Context) (string, error) { return s.Line("msg=start.failed") },
		Mended: func(ctx context.Context) error {
			_, err := s.Connect(ctx)
			return err
		},
	}, nil
}

// workersBad stages a release whose workers don't start. The work that waits includes an export, whose row stays due.
func workersBad(ctx context.Context, s *scene.Scene) (Staged, error) {
	connection, err := s.Connect(ctx)
	if err != nil {
		return Staged{}, err
	}
	err = release(ctx, s, "WORK_TABLE", map[string]string{
		"ExportWorkerFunction": "exportworker", "WebhookWorkerFunction": "webhookworker",
	})
	if err != nil {
		return Staged{}, err
	}
	task, err := s.Export(ctx, connection)
	if err != nil {
		return Staged{}, err
	}
	return Staged{
		Told: func(context.Context) (string, error) { return s.Line("msg=start.failed") },
		// The message that met the failed worker is hidden for 90 minutes, so the sweeper sends another one.
		Mended: func(ctx context.Context) error {
			if err := s.Fire(ctx, "SweeperFunction"); err != nil {
				return err
			}
			if err := exported(ctx, s, task); err != nil {
				return err
			}
			n, err := s.Received(ctx, task)
			if err == nil && n == 0 {
				err = errors.New("the webhook did not arrive")
			}
			return err
		},
	}, nil
}
