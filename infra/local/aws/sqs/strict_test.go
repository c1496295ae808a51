package sqs_test

import (
	"net/http"
	"strings"
	"testing"

	"recordbridge/infra/local/aws/sqs"
	"recordbridge/infra/local/aws/wire"
)

func TestSQSRejectsQueueURLOfAnotherAccount(t *testing.T) {
	t.Parallel()
	server := sqs.New("http://127.0.0.1:4566", wire.Discard{})
	call(t, server, "CreateQueue", `{"QueueName":"jobs"}`, http.StatusOK)
	for url, want := range map[string]string{
		"jobs":                               "InvalidAddress",
		"http://127.0.0.1:4566/1234/jobs":    "QueueDoesNotExist",
		"http://127.0.0.1:4566/jobs":         "QueueDoesNotExist",
		"http://container:1/000000000000/":   "QueueDoesNotExist",
		"http://container:1/000000000000/jo": "QueueDoesNotExist",
	} {
		answer := call(t, server, "ReceiveMessage", `{"QueueUrl":"`+url+`"}`, http.StatusBadRequest)
		if !strings.Contains(answer, `"`+want+`"`) {
			t.Errorf("%s: got %s, want %s", url, answer, want)
		}
	}
	call(t, server, "ReceiveMessage", `{"QueueUrl":"http://container:1/000000000000/jobs"}`, http.StatusOK)
}

func TestSQSRejectsUnsupportedFeatures(t *testing.T) {
	t.Parallel()
	server := sqs.New("http://127.0.0.1:4566", wire.Discard{})
	call(t, server, "CreateQueue", `{"QueueName":"jobs"}`, http.StatusOK)
	const (
		queue     = `"QueueUrl":"http://127.0.0.1:4566/000000000000/jobs"`
		attribute = `{"a":{"DataType":"String","StringValue":"x"}}`
		source    = `"SourceArn":"arn:aws:sqs:us-east-1:000000000000:jobs"`
	)
	for body, operation := range map[string]string{
		`{` + queue + `,"MessageBody":"x","MessageAttributes":` + attribute + `}`:     "SendMessage",
		`{` + queue + `,"MessageAttributeNames":["All"]}`:                             "ReceiveMessage",
		`{` + queue + `,"Attributes":{"DelaySeconds":"1"}}`:                           "SetQueueAttributes",
		`{` + queue + `,"Attributes":{"KmsMasterKeyId":"alias/jobs"}}`:                "SetQueueAttributes",
		`{"QueueName":"jobs.fifo","Attributes":{"FifoQueue":"true"}}`:                 "CreateQueue",
		`{"QueueName":"long","Attributes":{"ReceiveMessageWaitTimeSeconds":"20"}}`:    "CreateQueue",
		`{` + source + `,"DestinationArn":"arn:aws:sqs:us-east-1:000000000000:jobs"}`: "StartMessageMoveTask",
		`{` + source + `,"MaxNumberOfMessagesPerSecond":1}`:                           "StartMessageMoveTask",
	} {
		if answer := call(t, server, operation, body, http.StatusBadRequest); !strings.Contains(answer,
			"UnsupportedOperation") && !strings.Contains(body, ".fifo") {
			t.Errorf("%s %s: got %s", operation, body, answer)
		}
	}
}
