package mail_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/ses/types"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws"
	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/words/fault"
)

func newSender(t *testing.T) (*aws.Cloud, mail.Sender) {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cloud, mail.Sender{Client: ses.NewFromConfig(cloud.Config("test")), From: "Recordbridge <notices@example.com>"}
}

func TestSendDeliversMessageUnchanged(t *testing.T) {
	t.Parallel()
	cloud, sender := newSender(t)
	to := []string{"ops@alder.example", "on-call@alder.example"}
	if err := sender.Send(t.Context(), to, "Ähnliches: your webhook", "Line 1\nLine 2 – ü\n", "<p>Line 1"); err != nil {
		t.Fatal(err)
	}
	sent := cloud.SES().Sent()
	if len(sent) != 1 {
		t.Fatalf("%d mails were sent", len(sent))
	}
	got := sent[0]
	if !slices.Equal(got.To, to) || got.From != sender.From || got.Subject != "Ähnliches: your webhook" ||
		got.Text != "Line 1\nLine 2 – ü\n" || got.HTML != "<p>Line 1" {
		t.Errorf("got %+v", got)
	}
}

func TestSendPreventsHeaderInjectionInSubject(t *testing.T) {
	t.Parallel()
	cloud, sender := newSender(t)
	if err := sender.Send(t.Context(), []string{"a@example.com"}, "Alder\r\nBcc: b@example.com\x7f", "x", ""); err != nil {
		t.Fatal(err)
	}
	if got := cloud.SES().Sent()[0]; strings.ContainsAny(got.Subject, "\r\n\x7f") || len(got.To) != 1 {
		t.Errorf("got %+v", got)
	}
}

var errDown = errors.New("down")

type down struct{}

func (down) SendEmail(context.Context, *ses.SendEmailInput, ...func(*ses.Options)) (*ses.SendEmailOutput, error) {
	return nil, errDown
}

type refusing struct{ with error }

func (r refusing) SendEmail(context.Context, *ses.SendEmailInput, ...func(*ses.Options)) (*ses.SendEmailOutput, error) {
	return nil, r.with
}

func TestSendReportsErrorCodeWhenSESRejectsMessage(t *testing.T) {
	t.Parallel()
	for code, test := range map[string]struct {
		with    error
		invalid bool // whether the error is fault.Invalid
	}{
		"MessageRejected": {
			&types.MessageRejected{Message: new("Email address is not verified: a@example.com")},
			false,
		},
		"InvalidParameterValue": {&smithy.GenericAPIError{
			Code:    "InvalidParameterValue",
			Message: "Illegal address a@example.com",
		}, true},
	} {
		err := mail.Sender{Client: refusing{test.with}}.Send(t.Context(), []string{"a@example.com"}, "Alder", "Maple", "")
		if err == nil || !strings.Contains(err.Error(), code) || strings.Contains(err.Error(), "a@example.com") ||
			errors.Is(err, fault.Invalid) != test.invalid {
			t.Errorf("%s: got %v", code, err)
		}
	}
}

func TestSendHidesSESMessageOnFailure(t *testing.T) {
	t.Parallel()
	err := mail.Sender{Client: down{}}.Send(t.Context(), []string{"a@example.com"}, "Alder", "Maple", "")
	if !errors.Is(err, errDown) || strings.Contains(err.Error(), "example.com") || strings.Contains(err.Error(), "Alder") {
		t.Errorf("got %v", err)
	}
}

type refusingIn struct{ at fault.Spot }

func (r refusingIn) SendEmail(
	context.Context, *ses.SendEmailInput, ...func(*ses.Options),
) (*ses.SendEmailOutput, error) {
	return nil, r.at.Failed(&smithy.GenericAPIError{Code: r.at.Class, Message: "SENTINEL"})
}

func TestSendErrorNamesServiceWhenSESFails(t *testing.T) {
	t.Parallel()
	want := fault.Spot{Dependency: "SES", Operation: "SendEmail", Class: "InternalFailure"}
	err := mail.Sender{Client: refusingIn{want}}.Send(t.Context(), []string{"a@example.com"}, "Alder", "Maple", "")
	if got := fault.SpotOf(err); got != want || strings.Contains(err.Error(), "SENTINEL") {
		t.Errorf("got %v at %+v", err, got)
	}
}
