package main

import (
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/catalog"
	"recordbridge/shared/platform/config/awscall"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/words/org"
)

func checkOutputs(_ context.Context, s session) []finding {
	var missing []string
	for _, name := range []string{
		"BaseUrl", "ControlTable", "WorkTable", "AuditTable", "ConnectionTable", "TokensTable", "CatalogTable",
		"CatalogBucket", "KeyHashingSecret", "SecretsKey",
		"ClientKeys", "ExportQueueUrl", "DeliveryQueueUrl", "RefreshQueueUrl", "TefcaQueueUrl", "ExportDeadLetterQueueUrl",
		"DeliveryDeadLetterQueueUrl", "RefreshDeadLetterQueueUrl", "TefcaDeadLetterQueueUrl",
	} {
		if s.stack.Outputs[name] == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return []finding{amiss("Deploy the stack's current template.", "The stack has no outputs %s.",
			strings.Join(missing, ", "))}
	}
	return []finding{fine("All outputs are present.")}
}

// checkKeys reads KeyHashingSecret, the only secret that operators may read, and encrypts and decrypts test data with
// SecretsKey, the only key that they may use.
func checkKeys(ctx context.Context, s session) []finding {
	found := []finding{notInspected(
		"Search the logs for start.failed: functions that can't read their secrets and keys don't start.",
		"Operators can't read CursorSecret, DownloadSecret, LimitSecret, TokensKey or FilesKey.")}
	if _, err := awssecret.Keyring(ctx, s.stack.Config, time.Now, s.stack.Outputs["KeyHashingSecret"]); err != nil {
		found = append(found, amiss("See docs/operate/secrets.md, Rotate a versioned secret.", "KeyHashingSecret can't be "+
			"read: %v.", err))
	} else {
		found = append(found, fine("KeyHashingSecret is readable and has its current version."))
	}
	sealer := kms.New(awskms.NewFromConfig(s.stack.Config), kms.SecretsKey(s.stack.Outputs["SecretsKey"]),
		catalog.ClientSecretPurpose, time.Now)
	sealed, err := sealer.Seal(ctx, org.Tenant{}, "doctor", []byte("doctor"))
	if err == nil {
		_, err = sealer.Open(ctx, org.Tenant{}, "doctor", sealed)
	}
	if err != nil {
		return append(found, amiss("Check that the key is enabled (docs/operate/runbooks/keys.md).",
			"SecretsKey can't encrypt and decrypt: %v.", err))
	}
	if s.Operator == nil {
		return append(found, fine("SecretsKey encrypts and decrypts."))
	}
	if _, err = s.ClientKeys.PublicKeys(ctx, false); err != nil {
		return append(found, amiss("Check that the client keys are enabled (docs/operate/runbooks/keys.md).",
			"The service publishes no client keys: %v.", err))
	}
	return append(found, fine("SecretsKey encrypts and decrypts, and the service publishes its client keys."))
}

// tolerated is the largest clock difference that doctor accepts. AWS rejects a signature whose time is off by 5 minutes
// or more, but portals reject assertions with smaller clock errors.
const tolerated = 30 * time.Second

// checkService sends a request to the running service, whose functions read their parameters at startup.
func checkService(ctx context.Context, s session) []finding {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		s.stack.Outputs["BaseUrl"]+"/.well-known/jwks.json", http.NoBody)
	if err != nil {
		return []finding{amiss("Deploy the stack with a valid BaseUrl.", "BaseUrl is not a valid URL: %v.", err)}
	}
	client := http.Client{
		Timeout:       maxAnswer,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	before := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return []finding{amiss("See docs/operate/runbooks/api-errors.md.", "The service does not respond: %v.", err)}
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return []finding{amiss("See docs/operate/runbooks/api-errors.md. A missing parameter is logged as start.failed.",
			"The service responds with status %d.", response.StatusCode)}
	}
	there, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return []finding{fine("The service responds."), notInspected("", "The service's response has no Date header.")}
	}
	if skew := there.Sub(before.Add(time.Since(before) / 2)).Abs(); skew > tolerated {
		return []finding{amiss("Set this machine's clock (NTP): AWS rejects signatures whose time is minutes off.",
			"The clocks of this machine and the service differ by %v.", skew.Round(time.Second))}
	}
	return []finding{fine("The service responds, and the clocks agree.")}
}

const maxAnswer = 20 * time.Second

// checkQueues counts the messages in queues and dead-letter queues.
func checkQueues(ctx context.Context, s session) []finding {
	client := sqs.NewFromConfig(s.stack.Config)
	var found []finding
	for name, word := range map[string]string{"Export": "exports", "Delivery": "deliveries", "Refresh": "refreshes"} {
		for _, suffix := range []string{"QueueUrl", "DeadLetterQueueUrl"} {
			out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
				QueueUrl:       aws.String(s.stack.Outputs[name+suffix]),
				AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages},
			})
			if err != nil {
				found = append(found, notInspected("Allow sqs:GetQueueAttributes on the "+
					"queue.", "The queue %s%s can't be read: "+
					"%v.", name, suffix, err))
				continue
			}
			n, _ := strconv.Atoi(out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)])
			if suffix == "DeadLetterQueueUrl" && n > 0 {
				found = append(found, amiss("See docs/operate/runbooks/dead-letters.md, then run ctl redrive -queue "+word+".",
					"The dead-letter queue for %s has %d messages.", word, n))
			} else {
				found = append(found, fine("%s%s: %d messages.", name, strings.TrimSuffix(suffix, "Url"), n))
			}
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.What, b.What) })
	return found
}

// checkAlarms queries CloudWatch alarms, which exist only on AWS (Amazon CloudWatch API Reference, DescribeAlarms).
func checkAlarms(ctx context.Context, s session) []finding {
	const look = "Check the alarms in CloudWatch."
	if s.at.stack == "" {
		return []finding{notInspected(look, "Alarms are found by stack name; use -stack NAME.")}
	}
	var described struct {
		Alarms []struct{ AlarmName string } `xml:"DescribeAlarmsResult>MetricAlarms>member"`
	}
	query := url.Values{
		"Action": {"DescribeAlarms"}, "Version": {"2010-08-01"}, "StateValue": {"ALARM"},
		"AlarmNamePrefix": {s.at.stack + "-"},
	}
	err := awscall.Do(ctx, s.stack.Config, time.Now, awscall.Call{
		Service: "monitoring", SDKID: "CLOUDWATCH", Body: query.Encode(),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
		Read: func(status int, answer []byte) error {
			if status == http.StatusOK && xml.Unmarshal(answer, &described) == nil {
				return nil
			}
			return &awscall.RefusedError{Status: status}
		},
	})
	if err != nil {
		return []finding{notInspected(look+" Allow cloudwatch:DescribeAlarms.", "Alarms can't be read: %v.", err)}
	}
	found := make([]finding, 0, len(described.Alarms))
	for _, alarm := range described.Alarms {
		found = append(found, amiss("See the alarm's runbook in docs/operate/monitoring.md, "+
			"Alarms.", "%s is in ALARM.", alarm.AlarmName))
	}
	if len(found) == 0 {
		return []finding{fine("No alarm is in ALARM.")}
	}
	return found
}

// sandboxQuota is the number of emails per day that SES allows accounts in its sandbox.
const sandboxQuota = 200

func checkMail(ctx context.Context, s session) []finding {
	client := ses.NewFromConfig(s.stack.Config)
	quota, err := client.GetSendQuota(ctx, &ses.GetSendQuotaInput{})
	if err != nil {
		return []finding{notInspected("Check SES's account dashboard, and whether MailFrom is a verified identity; or "+
			"allow ses:GetSendQuota.", "SES can't be read: %v.", summary(err))}
	}
	found := []finding{notInspected("Check whether MailFrom is a verified identity.",
		"The sender address (the stack's MailFrom parameter) is not among the outputs.")}
	if quota.Max24HourSend <= sandboxQuota {
		return append(found, amiss("Ask AWS for production access: in the sandbox, emails reach only verified addresses.",
			"The SES account is in the sandbox (%v emails in 24 hours).", quota.Max24HourSend))
	}
	return append(found, fine("The SES account is out of the sandbox; %v of %v emails were sent in 24 "+
		"hours.", quota.SentLast24Hours,
		quota.Max24HourSend))
}

// summary returns only the innermost error's message, because complete AWS error messages are long.
func summary(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err.Error()
}
