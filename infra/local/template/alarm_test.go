package template_test

import (
	"slices"
	"testing"

	"recordbridge/infra/local/template"
)

func TestLoadReadsAlarmTopicsAndTheirKey(t *testing.T) {
	t.Parallel()
	tpl := loadMain(t, map[string]string{"AlarmEmail": "operator@recordbridge.example", "EnableFirewall": "true"})
	for _, topic := range []string{"AlarmTopic", "TicketTopic"} {
		if got, want := tpl.Outputs[topic], "arn:aws:sns:us-east-1:000000000000:recordbridge-"+topic; got != want {
			t.Errorf("the output %s: got %q, want %q", topic, got, want)
		}
	}
	if !slices.ContainsFunc(tpl.Keys, func(k template.Key) bool { return k.LogicalID == "AlarmKey" }) {
		t.Error("there is no AlarmKey")
	}
}

func TestLoadIgnoresMonitoringResources(t *testing.T) {
	t.Parallel()
	text := head + `  Jobs: {Type: AWS::SQS::Queue}
  Topic: {Type: AWS::SNS::Topic, Properties: {DisplayName: x, KmsMasterKeyId: y}}
  Policy: {Type: AWS::SNS::TopicPolicy, Properties: {Topics: [!Ref Topic], PolicyDocument: {}}}
  Mail: {Type: AWS::SNS::Subscription, Properties: {TopicArn: !Ref Topic, Protocol: email, Endpoint: a@b.example}}
  Dashboard: {Type: AWS::CloudWatch::Dashboard,
    Properties: {DashboardName: x, DashboardBody: !Sub '{"alarms":["${Age.Arn}"]}'}}
  Age:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateAgeOfOldestMessage
      Dimensions: [{Name: QueueName, Value: !GetAtt Jobs.QueueName}]
      AlarmActions: [!Ref Topic]
`
	got, err := loadText(t, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Queues) != 1 || len(got.Functions)+len(got.Keys)+len(got.Buckets)+len(got.Parameters) != 0 {
		t.Errorf("got %+v, want one queue and nothing else", got)
	}
}
