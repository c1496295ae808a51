package incident

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/infra/drill/scene"
	"recordbridge/infra/local/faults"
)

// keyDisabled stages a disabled TokensKey and a patient's sign-in, which fails.
func keyDisabled(ctx context.Context, s *scene.Scene) (Staged, error) {
	keys := kms.NewFromConfig(s.Config())
	found, err := keys.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String("alias/local-TokensKey")})
	if err != nil {
		return Staged{}, err
	}
	if _, err = keys.DisableKey(ctx, &kms.DisableKeyInput{KeyId: found.KeyMetadata.KeyId}); err != nil {
		return Staged{}, err
	}
	s.Set("KEY", "TokensKey")
	return signInFails(ctx, s, nil, "cause~DisabledException")
}

// keysFail stages an outage of KMS and a patient's sign-in, which fails.
func keysFail(ctx context.Context, s *scene.Scene) (Staged, error) {
	if err := s.Fail(ctx, faults.Fault{Service: "kms", Kind: "failed"}); err != nil {
		return Staged{}, err
	}
	return signInFails(ctx, s, func(ctx context.Context) error { return s.Fail(ctx) }, "cause~KMSInternalException")
}

// signInFails makes a patient sign in, which must fail. A log line with the given field reports the incident,
// which is mended when patients can connect again.
func signInFails(
	ctx context.Context, s *scene.Scene, others func(context.Context) error, field string,
) (Staged, error) {
	if _, err := s.Connect(ctx); err == nil {
		return Staged{}, errors.New("the patient connected")
	}
	return Staged{
		Told:   func(context.Context) (string, error) { return s.Line("msg=http.request", field) },
		Others: others,
		Mended: func(ctx context.Context) error {
			_, err := s.Connect(ctx)
			return err
		},
	}, nil
}

// tableThrottled stages a throttled Work table and a request for an export, which fails.
func tableThrottled(ctx context.Context, s *scene.Scene) (Staged, error) {
	connection, err := s.Connect(ctx)
	if err != nil {
		return Staged{}, err
	}
	fault := faults.Fault{Service: "dynamodb", Name: s.AWS.Outputs["WorkTable"], Kind: "throttled"}
	if err = s.Fail(ctx, fault); err != nil {
		return Staged{}, err
	}
	if _, err = s.Export(ctx, connection); err == nil {
		return Staged{}, errors.New("the request was accepted")
	}
	return Staged{
		Told: func(context.Context) (string, error) {
			return s.Line("msg=http.request", "route=/bridge/fhir/ehi-export", "table="+s.AWS.Outputs["WorkTable"])
		},
		Others: func(ctx context.Context) error { return s.Fail(ctx) },
		Mended: func(ctx context.Context) error {
			task, err := s.Export(ctx, connection)
			if err != nil {
				return err
			}
			return exported(ctx, s, task)
		},
	}, nil
}

// exported returns nil if the export has succeeded.
func exported(ctx context.Context, s *scene.Scene, task string) error {
	status, err := s.ExportStatus(ctx, task)
	if err == nil && status != "success" {
		err = fmt.Errorf("the export's status is %q", status)
	}
	return err
}

// mailRefused stages an SES account that may not send, and a sign-in to the dashboard, which fails.
func mailRefused(ctx context.Context, s *scene.Scene) (Staged, error) {
	mail := ses.NewFromConfig(s.Config())
	if _, err := mail.UpdateAccountSendingEnabled(ctx, &ses.UpdateAccountSendingEnabledInput{Enabled: false}); err != nil {
		return Staged{}, err
	}
	if err := s.RequestCode(ctx); err == nil {
		return Staged{}, errors.New("the sign-in code was sent")
	}
	return Staged{
		Told:   func(context.Context) (string, error) { return s.Line("msg=http.request", "cause~AccountSendingPaused") },
		Mended: s.RequestCode,
	}, nil
}

// unknownStatus stages a connection row with a status that the running release doesn't know.
func unknownStatus(ctx context.Context, s *scene.Scene) (Staged, error) {
	connection, err := s.Connect(ctx)
	if err != nil {
		return Staged{}, err
	}
	s.Set("ID", connection)
	if err = s.SetStatus(ctx, connection, "paused"); err != nil {
		return Staged{}, err
	}
	if _, err = s.Export(ctx, connection); err == nil {
		return Staged{}, errors.New("the request was accepted")
	}
	return Staged{
		Told: func(context.Context) (string, error) {
			return s.Line("msg=http.request", "route=/bridge/fhir/ehi-export", "org_id="+s.Org.ID)
		},
		Mended: func(ctx context.Context) error {
			_, err := s.Export(ctx, connection)
			return err
		},
	}, nil
}
