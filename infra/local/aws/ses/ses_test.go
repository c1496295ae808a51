package ses_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/ses/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/ses"
)

func TestSentReturnsAcceptedMail(t *testing.T) {
	t.Parallel()
	cloud, client := newClient(t)
	in := mailTo("alder@example.org")
	in.Destination.CcAddresses = []string{"maple@example.org"}
	in.ReplyToAddresses = []string{"help@example.com"}
	in.Message.Body.Html = &types.Content{Data: awssdk.String("<p>Code: 123 456 &amp; more</p>")}
	out, err := client.SendEmail(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := []ses.Mail{{
		ID: *out.MessageId, From: "Recordbridge <no-reply@example.com>",
		To: []string{"alder@example.org", "maple@example.org"}, ReplyTo: []string{"help@example.com"},
		Subject: "Your code – é", Text: "Code: 123 456\n", HTML: "<p>Code: 123 456 &amp; more</p>",
	}}
	got := cloud.SES().Sent()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(ses.Mail{}, "At")); diff != "" {
		t.Errorf("mail (-want +got):\n%s", diff)
	}
	if got[0].At.IsZero() {
		t.Error("the mail has no time")
	}
}

// The scripts in infra/test/conformance cover SES's other error responses.
func TestSendEmailRejectsInvalidMail(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*sdk.SendEmailInput)
		want   string
	}{
		"no body": {func(in *sdk.SendEmailInput) { in.Message.Body.Text = nil }, "InvalidParameterValue"},
		"a recipient beyond ASCII": {
			func(in *sdk.SendEmailInput) { in.Destination.ToAddresses[0] = "ahörn@example.org" },
			"InvalidParameterValue",
		},
		"a domain beyond ASCII": {
			func(in *sdk.SendEmailInput) { in.Destination.ToAddresses[0] = "alder@exämple.org" },
			"InvalidParameterValue",
		},
		"a source of 330 letters": {func(in *sdk.SendEmailInput) {
			in.Source = awssdk.String(strings.Repeat("a", 318) + "@example.org")
		}, "InvalidParameterValue"},
		"an answer to nobody": {
			func(in *sdk.SendEmailInput) { in.ReplyToAddresses = []string{"help"} },
			"InvalidParameterValue",
		},
		"a subject of two lines": {
			func(in *sdk.SendEmailInput) { in.Message.Subject.Data = awssdk.String("a\r\nBcc: b@example.org") },
			"InvalidParameterValue",
		},
		"a body of 11 MB": {
			func(in *sdk.SendEmailInput) { in.Message.Body.Text.Data = awssdk.String(strings.Repeat("x", 11<<20)) },
			"InvalidParameterValue",
		},
		"a configuration set": {
			func(in *sdk.SendEmailInput) { in.ConfigurationSetName = awssdk.String("none") },
			"ConfigurationSetDoesNotExist",
		},
		"51 recipients": {func(in *sdk.SendEmailInput) {
			in.Destination.ToAddresses = strings.Split(strings.Repeat("a@example.org,", 50)+"a@example.org", ",")
		}, "InvalidParameterValue"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud, client := newClient(t)
			in := mailTo("alder@example.org")
			test.change(in)
			_, err := client.SendEmail(t.Context(), in)
			failure, ok := errors.AsType[smithy.APIError](err)
			if !ok || failure.ErrorCode() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if got := len(cloud.SES().Sent()); got != 0 {
				t.Errorf("%d mails were kept", got)
			}
		})
	}
}

func mailTo(to string) *sdk.SendEmailInput {
	return &sdk.SendEmailInput{
		Source:      awssdk.String("Recordbridge <no-reply@example.com>"),
		Destination: &types.Destination{ToAddresses: []string{to}},
		Message: &types.Message{
			Subject: &types.Content{Data: awssdk.String("Your code – é")},
			Body:    &types.Body{Text: &types.Content{Data: awssdk.String("Code: 123 456\n")}},
		},
	}
}

func newClient(t *testing.T) (*aws.Cloud, *sdk.Client) {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cloud, sdk.NewFromConfig(cloud.Config("test"))
}

func TestMailboxKeepsLatestThousandMessages(t *testing.T) {
	t.Parallel()
	cloud, client := newClient(t)
	for i := range 1002 {
		in := mailTo("alder@example.org")
		in.Message.Subject.Data = awssdk.String(strconv.Itoa(i))
		if _, err := client.SendEmail(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if got := cloud.SES().Sent(); len(got) != 1000 || got[0].Subject != "2" || got[999].Subject != "1001" {
		t.Errorf("%d mails are kept, from %q to %q, want the latest 1000", len(got), got[0].Subject, got[len(got)-1].Subject)
	}
}

func TestSendEmailFailsWhileSendingIsPaused(t *testing.T) {
	t.Parallel()
	cloud, client := newClient(t)
	for _, enabled := range []bool{false, true} {
		_, err := client.UpdateAccountSendingEnabled(t.Context(), &sdk.UpdateAccountSendingEnabledInput{Enabled: enabled})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.SendEmail(t.Context(), mailTo("alder@example.org"))
		if _, paused := errors.AsType[*types.AccountSendingPausedException](err); paused == enabled {
			t.Errorf("enabled %t: got %v", enabled, err)
		}
	}
	if got := len(cloud.SES().Sent()); got != 1 {
		t.Errorf("%d emails were sent, want 1", got)
	}
}
