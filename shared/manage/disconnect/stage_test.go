package disconnect_test

import (
	"context"
	"time"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/words/org"
)

// stage is a store that fails or runs another operation at a chosen point of a disconnection.
type stage struct {
	store.Disconnections

	point string // such as "before EndFile" or "after EndFile"; each occurs once
	act   func() error
	calls []string
}

// points returns all points in a disconnection at which another operation can run.
func points() []string {
	calls := []string{"Connection", "Tokens", "LatestTask", "Task", "EndFile", "EndConnection"}
	all := make([]string, 0, 2*len(calls))
	for _, call := range calls {
		all = append(all, "before "+call, "after "+call)
	}
	return all
}

// perform makes a call and runs the scheduled operation if it is due before or after the call.
func perform[T any](s *stage, name string, call func() (T, error)) (T, error) {
	s.calls = append(s.calls, name)
	var nothing T
	if err := s.meet("before " + name); err != nil {
		return nothing, err
	}
	out, err := call()
	if failure := s.meet("after " + name); failure != nil {
		return nothing, failure
	}
	return out, err
}

func (s *stage) Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	return perform(s, "Connection", func() (connection.Connection,
		error,
	) {
		return s.Disconnections.Connection(ctx, tenant, id)
	})
}

func (s *stage) Tokens(ctx context.Context, tenant org.Tenant, id string) (tokens.Row, error) {
	return perform(s, "Tokens", func() (tokens.Row, error) { return s.Disconnections.Tokens(ctx, tenant, id) })
}

func (s *stage) LatestTask(ctx context.Context, tenant org.Tenant, id string) (string, error) {
	return perform(s, "LatestTask", func() (string, error) { return s.Disconnections.LatestTask(ctx, tenant, id) })
}

func (s *stage) Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error) {
	return perform(s, "Task", func() (export.Task, error) { return s.Disconnections.Task(ctx, tenant, id) })
}

func (s *stage) EndFile(ctx context.Context, task export.Task, now time.Time) error {
	_, err := perform(s, "EndFile", func() (struct{}, error) {
		return struct{}{},
			s.Disconnections.EndFile(ctx, task, now)
	})
	return err
}

func (s *stage) EndConnection(ctx context.Context, e disconnect.Ending) error {
	_, err := perform(s, "EndConnection", func() (struct{}, error) {
		return struct{}{},
			s.Disconnections.EndConnection(ctx, e)
	})
	return err
}

// at schedules act to run once, when the disconnection reaches point.
func (s *stage) at(point string, act func() error) { s.point, s.act = point, act }

func (s *stage) meet(point string) error {
	if s.point != point {
		return nil
	}
	s.point = ""
	return s.act()
}
