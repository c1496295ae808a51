package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recordbridge/shared/platform/config/awscall"
)

// query calls an operation of a service with the query protocol, and decodes the XML response into result.
func (s session) query(ctx context.Context, service, sdkID string, values url.Values, result any) error {
	return awscall.Do(ctx, s.stack.Config, time.Now, awscall.Call{
		Service: service, SDKID: sdkID, Body: values.Encode(),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
		Read: func(status int, answer []byte) error {
			if status == http.StatusOK && xml.Unmarshal(answer, result) == nil {
				return nil
			}
			return &awscall.RefusedError{Status: status}
		},
	})
}

// checkAlarms queries CloudWatch alarms, which exist only on AWS (Amazon CloudWatch API Reference, DescribeAlarms).
func checkAlarms(ctx context.Context, s session) []finding {
	const look = "Check the alarms in CloudWatch."
	found := s.checkTopics(ctx)
	if s.at.stack == "" {
		return append(found, notInspected(look, "Alarms are found by stack name; use -stack NAME."))
	}
	var described struct {
		Alarms []struct{ AlarmName string } `xml:"DescribeAlarmsResult>MetricAlarms>member"`
	}
	err := s.query(ctx, "monitoring", "CLOUDWATCH", url.Values{
		"Action": {"DescribeAlarms"}, "Version": {"2010-08-01"}, "StateValue": {"ALARM"},
		"AlarmNamePrefix": {s.at.stack + "-"},
	}, &described)
	if err != nil {
		return append(found, notInspected(look+" Allow cloudwatch:DescribeAlarms.", "Alarms can't be read: %v.", err))
	}
	if len(described.Alarms) == 0 {
		return append(found, fine("No alarm is in ALARM."))
	}
	for _, alarm := range described.Alarms {
		found = append(found, amiss("See the alarm's runbook in docs/operate/monitoring.md, "+
			"Alarms.", "%s is in ALARM.", alarm.AlarmName))
	}
	return found
}

// checkTopics checks that somebody receives the alarms of each topic (Amazon SNS API Reference,
// ListSubscriptionsByTopic).
func (s session) checkTopics(ctx context.Context) []finding {
	var found []finding
	for _, name := range []string{"AlarmTopic", "TicketTopic"} {
		topic := s.stack.Outputs[name]
		if topic == "" {
			found = append(found, notInspected("", "The stack has no output %s.", name))
			continue
		}
		var listed struct {
			Subscriptions []struct {
				SubscriptionArn string
			} `xml:"ListSubscriptionsByTopicResult>Subscriptions>member"`
		}
		err := s.query(ctx, "sns", "SNS", url.Values{
			"Action": {"ListSubscriptionsByTopic"}, "Version": {"2010-03-31"}, "TopicArn": {topic},
		}, &listed)
		if err != nil {
			found = append(found, notInspected("Allow sns:ListSubscriptionsByTopic on the topic.",
				"The subscriptions of %s can't be read: %v.", name, err))
			continue
		}
		confirmed := 0
		for _, one := range listed.Subscriptions {
			if strings.HasPrefix(one.SubscriptionArn, "arn:") {
				confirmed++
			}
		}
		switch waiting := len(listed.Subscriptions) - confirmed; {
		case waiting > 0:
			found = append(found, amiss("Open AWS's email to the subscriber and confirm. To send the email again, run aws sns "+
				"subscribe --topic-arn "+topic+" --protocol email --notification-endpoint ADDRESS.",
				"%d subscriptions of %s are not confirmed, so they receive no alarm.", waiting, name))
		case confirmed == 0:
			found = append(found, amiss("Run aws sns subscribe --topic-arn "+topic+
				" --protocol email --notification-endpoint ADDRESS.", "Nobody receives the alarms of %s.", name))
		default:
			found = append(found, fine("%s has %d confirmed subscriptions.", name, confirmed))
		}
	}
	return found
}

// checkFirewall checks that the web ACL protects the API (AWS WAF API Reference, ListResourcesForWebACL).
func checkFirewall(ctx context.Context, s session) []finding {
	acl := s.stack.Outputs["FirewallArn"]
	if acl == "" {
		return []finding{notInspected("To turn the firewall on, deploy with EnableFirewall=true.",
			"The stack has no firewall.")}
	}
	body, err := json.Marshal(map[string]string{"WebACLArn": acl, "ResourceType": "API_GATEWAY"})
	if err != nil {
		return []finding{notInspected("", "FirewallArn can't be encoded: %v.", err)}
	}
	var listed struct{ ResourceArns []string }
	err = awscall.Do(ctx, s.stack.Config, time.Now, awscall.Call{
		Service: "wafv2", SDKID: "WAFV2", Body: string(body),
		Header: map[string]string{
			"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "AWSWAF_20190729.ListResourcesForWebACL",
		},
		Read: func(status int, answer []byte) error {
			if status == http.StatusOK && json.Unmarshal(answer, &listed) == nil {
				return nil
			}
			return &awscall.RefusedError{Status: status}
		},
	})
	switch {
	case err != nil:
		return []finding{notInspected("Allow wafv2:ListResourcesForWebACL on the web ACL.",
			"The firewall can't be read: %v.", err)}
	case len(listed.ResourceArns) == 0:
		return []finding{amiss("Deploy the stack again with EnableFirewall=true; the deployment restores the association.",
			"The firewall protects no API, so no request is checked.")}
	}
	return []finding{fine("The firewall protects the API.")}
}
