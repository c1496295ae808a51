package main

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// answering starts a server that answers the AWS operations in answers itself and forwards all others to the embedded
// AWS server. An operation is a form's Action or a target's last part.
func answering(t *testing.T, answers map[string]string) {
	t.Helper()
	behind := os.Getenv("AWS_ENDPOINT_URL")
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for operation, answer := range answers {
			if strings.Contains("&"+string(body)+"&", "&Action="+operation+"&") ||
				strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) {
				_, _ = io.WriteString(w, answer)
				return
			}
		}
		pass(w, r, behind, body)
	}))
	t.Cleanup(front.Close)
	t.Setenv("AWS_ENDPOINT_URL", front.URL)
}

// subscribed returns SNS's list of subscriptions with the given ARNs.
func subscribed(arns ...string) string {
	var members strings.Builder
	for _, arn := range arns {
		members.WriteString("<member><SubscriptionArn>" + arn + "</SubscriptionArn></member>")
	}
	return "<ListSubscriptionsByTopicResponse><ListSubscriptionsByTopicResult><Subscriptions>" + members.String() +
		"</Subscriptions></ListSubscriptionsByTopicResult></ListSubscriptionsByTopicResponse>"
}

func mailAnswer(operation, result string) string {
	return "<" + operation + `Response xmlns="http://ses.amazonaws.com/doc/2010-12-01/"><` + operation +
		"Result>" + result +
		"</" + operation + "Result></" + operation + "Response>"
}

func verified(status string) string {
	return mailAnswer("GetIdentityVerificationAttributes", "<VerificationAttributes><entry><key>alder.example</key>"+
		"<value><VerificationStatus>"+status+"</VerificationStatus></value></entry></VerificationAttributes>")
}

// TestDoctorReportsStateOfAWSControls covers controls that the embedded AWS server lacks or can't break.
func TestDoctorReportsStateOfAWSControls(t *testing.T) {
	well := map[string]string{
		"ListSubscriptionsByTopic":          subscribed("arn:aws:sns:us-east-1:1:t:1"),
		"ListResourcesForWebACL":            `{"ResourceArns": ["arn:aws:apigateway:us-east-1::/restapis/1/stages/v1"]}`,
		"GetAccountSendingEnabled":          mailAnswer("GetAccountSendingEnabled", "<Enabled>true</Enabled>"),
		"GetIdentityVerificationAttributes": verified("Success"),
	}
	key := func(state string) string { return `{"KeyMetadata": {"KeyId": "1", "KeyState": "` + state + `"}}` }
	for name, test := range map[string]struct {
		operation, answer string
		code              int
		want, do          string
	}{
		"everything works": {"", "", 0, "AlarmTopic has 1 confirmed subscriptions.", ""},
		"firewall works":   {"", "", 0, "The firewall protects the API.", ""},
		"keys work":        {"", "", 0, "is enabled.", ""},
		"mail works":       {"", "", 0, "MailFrom is a verified identity.", ""},
		"nobody confirmed": {
			"ListSubscriptionsByTopic", subscribed("PendingConfirmation"), 1,
			"1 subscriptions of AlarmTopic are not confirmed", "aws sns subscribe --topic-arn",
		},
		"nobody subscribed": {
			"ListSubscriptionsByTopic", subscribed(), 1, "Nobody receives the alarms of TicketTopic",
			"aws sns subscribe --topic-arn arn:aws:sns:us-east-1:1:tickets",
		},
		"firewall protects nothing": {
			"ListResourcesForWebACL", `{"ResourceArns": []}`, 1, "The firewall protects no API", "EnableFirewall=true",
		},
		"keys are disabled": {
			"DescribeKey", key("Disabled"), 1, "TokensKey is Disabled: sign-ins, token refreshes and exports fail.",
			"aws kms enable-key --key-id arn:",
		},
		"keys are about to be deleted": {
			"DescribeKey", key("PendingDeletion"), 1, "FilesKey is scheduled for deletion", "aws kms cancel-key-deletion",
		},
		"sending is paused": {
			"GetAccountSendingEnabled", mailAnswer("GetAccountSendingEnabled", "<Enabled>false</Enabled>"), 1,
			"sending is paused", "update-account-sending-enabled --enabled",
		},
		"sender is not verified": {
			"GetIdentityVerificationAttributes", verified("Pending"), 1, "MailFrom is not a verified identity",
			"aws ses verify-domain-identity --domain alder.example",
		},
	} {
		t.Run(name, func(t *testing.T) {
			outputs, _, _ := newPublisher(t)
			putOutput(t, outputs, "MailFrom", "notices@alder.example")
			putOutput(t, outputs, "TicketTopic", "arn:aws:sns:us-east-1:1:tickets")
			putOutput(t, outputs, "FirewallArn", "arn:aws:wafv2:us-east-1:1:regional/webacl/1")
			answers := map[string]string{}
			maps.Copy(answers, well)
			if test.operation != "" {
				answers[test.operation] = test.answer
			}
			answering(t, answers)
			told, code := examined(t, outputs)
			if code != test.code || !strings.Contains(told, test.want) || !strings.Contains(told, test.do) {
				t.Errorf("exit code %d, %s", code, told)
			}
		})
	}
}

// TestDoctorSkipsAWSControlsThatStackLacks checks a local stack, which has no topics, firewall or sender address.
func TestDoctorSkipsAWSControlsThatStackLacks(t *testing.T) {
	outputs, _, _ := newPublisher(t)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-outputs", outputs, "doctor"}, to(&out)); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"The subscriptions of AlarmTopic can't be read", "The stack has no firewall", "The stack has no sender address",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, out.String())
		}
	}
	if !strings.Contains(out.String(), "TefcaDeadLetterQueue: 0 messages.") {
		t.Error("TEFCA's queues are not checked")
	}
}
