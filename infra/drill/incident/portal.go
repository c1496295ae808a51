package incident

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"recordbridge/infra/drill/scene"
)

// First and second secret of the service's client at the drill's health system.
const (
	oldSecret = "drill-secret-1"
	newSecret = "drill-secret-2"
)

// portal stages an incident at a health system with a connected patient.
func portal(happen func(e *scene.EHR) error) func(ctx context.Context, s *scene.Scene) (*scene.EHR, string, error) {
	return func(ctx context.Context, s *scene.Scene) (*scene.EHR, string, error) {
		e, err := s.NewEHR(ctx, oldSecret)
		if err != nil {
			return nil, "", err
		}
		connection, err := s.Connect(ctx)
		if err != nil {
			return nil, "", err
		}
		s.Set("ENDPOINT", e.EndpointID)
		s.Set("CLIENT", e.AuthID)
		s.Set("FHIR_BASE", e.URL+"/fhir")
		return e, connection, happen(e)
	}
}

// secretFile writes the new secret to a file and sets the runbook's variable FILE.
func secretFile(s *scene.Scene) error {
	file := filepath.Join(filepath.Dir(s.RunFile), "secret")
	s.Set("FILE", file)
	return os.WriteFile(file, []byte(newSecret), 0o600)
}

// secretRotated stages a health system that has replaced our client's secret.
func secretRotated(ctx context.Context, s *scene.Scene) (Staged, error) {
	e, _, err := portal(func(e *scene.EHR) error { return errors.Join(secretFile(s), e.SetSecret(newSecret)) })(ctx, s)
	if err != nil {
		return Staged{}, err
	}
	staged, err := signInFails(ctx, s, nil, "class=invalid_client")
	staged.End = e.Close
	return staged, err
}

// secretLeaked stages a leaked client secret. The health system accepts the old secret until it is asked to revoke it.
func secretLeaked(ctx context.Context, s *scene.Scene) (Staged, error) {
	e, connection, err := portal(func(*scene.EHR) error { return secretFile(s) })(ctx, s)
	if err != nil {
		return Staged{}, err
	}
	if err := e.Accept(newSecret); err != nil {
		return Staged{}, err
	}
	return Staged{
		Told: func(context.Context) (string, error) {
			return "the health system reports uses of our secret from elsewhere", nil
		},
		Mended: func(ctx context.Context) error {
			if e.Used() != newSecret {
				_, err := s.Connect(ctx)
				return errors.Join(errors.New("the service uses the old secret"), err)
			}
			if err := e.SetSecret(newSecret); err != nil { // the health system revokes the old secret
				return err
			}
			task, err := s.Export(ctx, connection)
			if err != nil {
				return err
			}
			return exported(ctx, s, task)
		},
		End: e.Close,
	}, nil
}

// portalDown stages a health system that is down, and an export, which is put off.
func portalDown(ctx context.Context, s *scene.Scene) (Staged, error) {
	e, connection, err := portal(func(e *scene.EHR) error { e.SetDown(true); return nil })(ctx, s)
	if err != nil {
		return Staged{}, err
	}
	task, err := s.Export(ctx, connection)
	if err != nil {
		return Staged{}, err
	}
	return Staged{
		Told: func(context.Context) (string, error) {
			return s.Line("msg=exportworker.message", "result=put_off", "upstream_status=503")
		},
		Others: func(context.Context) error { e.SetDown(false); return nil },
		End:    e.Close,
		Mended: func(ctx context.Context) error { return exported(ctx, s, task) },
	}, nil
}
