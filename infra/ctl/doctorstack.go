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
		return []finding{amiss("Deploy the stack's present template.", "The stack has no outputs %s.",
			strings.Join(missing, ", "))}
	}
	return []finding{fine("All outputs are there.")}
}

// checkKeys reads the one secret that operators may read, and encrypts and decrypts with the one key that they may use.
func checkKeys(ctx context.Context, s session) []finding {
	found := []finding{unseen("Their functions refuse to start when they cannot read them: look for start.failed in the "+
		"logs.",
		"CursorSecret, DownloadSecret and LimitSecret, TokensKey and FilesKey are not for operators.")}
	if _, err := awssecret.Keyring(ctx, s.stack.Config, time.Now, s.stack.Outputs["KeyHashingSecret"]); err != nil {
		found = append(found, amiss("docs/operate/secrets.md, Rotate a versioned secret.",
			"KeyHashingSecret cannot be read: %v.", err))
	} else {
		found = append(found, fine("KeyHashingSecret is readable, and has its current version."))
	}
	sealer := kms.New(awskms.NewFromConfig(s.stack.Config), s.stack.Outputs["SecretsKey"],
		catalog.ClientSecretPurpose, time.Now)
	sealed, err := sealer.Seal(ctx, org.Tenant{}, "doctor", []byte("doctor"))
	if err == nil {
		_, err = sealer.Open(ctx, org.Tenant{}, "doctor", sealed)
	}
	if err != nil {
		return append(found, amiss("docs/operate/runbooks/keys.md: see that the key is enabled.",
			"SecretsKey does not seal and open: %v.", err))
	}
	if s.Operator == nil {
		return append(found, fine("SecretsKey seals and opens."))
	}
	if _, err = s.ClientKeys.PublicKeys(ctx, false); err != nil {
		return append(found, amiss("docs/operate/runbooks/keys.md: see that the client keys are enabled.",
			"The service publishes no client keys: %v.", err))
	}
	return append(found, fine("SecretsKey seals and opens, and the service publishes its client keys."))
}

// tolerated is the maximum difference between two clocks. AWS refuses signatures from 5 minutes on; portals refuse
// assertions earlier.
const tolerated = 30 * time.Second

// checkService calls the running service, whose functions read their parameters at startup.
func checkService(ctx context.Context, s session) []finding {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		s.stack.Outputs["BaseUrl"]+"/.well-known/jwks.json", http.NoBody)
	if err != nil {
		return []finding{amiss("Deploy the stack with a right address.", "BaseUrl is no address: %v.", err)}
	}
	client := http.Client{
		Timeout:       maxAnswer,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	before := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return []finding{amiss("docs/operate/runbooks/api-errors.md.", "The service does not answer: %v.", err)}
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return []finding{amiss("docs/operate/runbooks/api-errors.md; a parameter that is missing is a start.failed in the log.",
			"The service answers %d.", response.StatusCode)}
	}
	there, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return []finding{fine("The service answers."), unseen("", "The service does not tell its time.")}
	}
	if skew := there.Sub(before.Add(time.Since(before) / 2)).Abs(); skew > tolerated {
		return []finding{amiss("Set this machine's clock (NTP): AWS refuses what is signed minutes off.",
			"This machine and the service are %v apart.", skew.Round(time.Second))}
	}
	return []finding{fine("The service answers, and the clocks agree.")}
}

const maxAnswer = 20 * time.Second

// checkQueues counts waiting and dead messages.
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
				found = append(found, unseen("Allow sqs:GetQueueAttributes on it.", "The queue %s%s: %v.", name, suffix, err))
				continue
			}
			n, _ := strconv.Atoi(out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)])
			if suffix == "DeadLetterQueueUrl" && n > 0 {
				found = append(found, amiss("docs/operate/runbooks/dead-letters.md, then ctl redrive -queue "+word+".",
					"%d dead letters of %s.", n, word))
			} else {
				found = append(found, fine("%s%s: %d messages.", name, strings.TrimSuffix(suffix, "Url"), n))
			}
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.What, b.What) })
	return found
}

// checkAlarms queries CloudWatch, which exists only on AWS (Amazon CloudWatch API Reference, DescribeAlarms).
func checkAlarms(ctx context.Context, s session) []finding {
	const look = "Look at the alarms in CloudWatch."
	if s.at.stack == "" {
		return []finding{unseen(look, "Alarms are found by the stack's name: -stack NAME.")}
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
		return []finding{unseen(look+" Allow cloudwatch:DescribeAlarms.", "Alarms: %v.", err)}
	}
	found := make([]finding, 0, len(described.Alarms))
	for _, alarm := range described.Alarms {
		found = append(found, amiss("docs/operate/monitoring.md, Alarms, names its runbook.", "%s is in ALARM.",
			alarm.AlarmName))
	}
	if len(found) == 0 {
		return []finding{fine("No alarm is in ALARM.")}
	}
	return found
}

// sandboxQuota is the number of e-mails that SES sends in 24 hours for an account in the SES sandbox.
const sandboxQuota = 200

func checkMail(ctx context.Context, s session) []finding {
	client := ses.NewFromConfig(s.stack.Config)
	quota, err := client.GetSendQuota(ctx, &ses.GetSendQuotaInput{})
	if err != nil {
		return []finding{unseen("Look at SES's account dashboard, and whether MailFrom is a verified identity; or allow "+
			"ses:GetSendQuota.", "SES: %v.", summary(err))}
	}
	found := []finding{unseen("Look whether MailFrom is a verified identity.",
		"Which address mails come from is a parameter of the stack, which is not told.")}
	if quota.Max24HourSend <= sandboxQuota {
		return append(found, amiss("Ask AWS for production access: in the sandbox mails reach verified addresses alone.",
			"SES is in its sandbox (%v mails in 24 hours).", quota.Max24HourSend))
	}
	return append(found, fine("SES is out of its sandbox; %v of %v mails were sent in 24 hours.", quota.SentLast24Hours,
		quota.Max24HourSend))
}

// summary returns an error without the errors it wraps, which are long for AWS errors.
func summary(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err.Error()
}
