package aws_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/aws"
)

// session is some work with every service, and what its caller holds in hand at the end.
type session struct {
	cfg     awssdk.Config
	held    *string // receipt handle of a message in flight
	upload  *string // upload in progress, with part 1
	partTag *string
}

const itemsTable, sessionQueue, sessionToken = "items", "http://127.0.0.1:4566/000000000000/work", "session-token"

func newSession(ctx context.Context, cfg awssdk.Config) (*session, error) {
	s := &session{cfg: cfg}
	for _, p := range probes() {
		if err := p.fill(ctx, cfg); err != nil {
			return nil, err
		}
	}
	return s, errors.Join(sendMail(ctx, cfg), sendMail(ctx, cfg), s.rows(ctx), s.messages(ctx), s.objects(ctx), s.versions(ctx))
}

func (s *session) rows(ctx context.Context) error {
	client := dynamodb.NewFromConfig(s.cfg)
	_, ttl := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: awssdk.String(itemsTable), TimeToLiveSpecification: &ddbtypes.TimeToLiveSpecification{AttributeName: awssdk.String("ttl"), Enabled: awssdk.Bool(true)},
	})
	var errs []error
	for _, name := range []string{"b", "c", "d", "b"} {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: awssdk.String(itemsTable), Item: row(name, "naïve \" \x00")})
		errs = append(errs, err)
	}
	_, deletion := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: awssdk.String(itemsTable), Key: row("c", "")})
	return errors.Join(append(errs, ttl, deletion, s.transaction(ctx))...)
}

// transaction adds one to a row, once however often it is called.
func (s *session) transaction(ctx context.Context) error {
	_, err := dynamodb.NewFromConfig(s.cfg).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: awssdk.String(sessionToken),
		TransactItems: []ddbtypes.TransactWriteItem{{Update: &ddbtypes.Update{
			TableName: awssdk.String(itemsTable), Key: row("d", ""), UpdateExpression: awssdk.String("ADD n :one"),
			ExpressionAttributeValues: map[string]ddbtypes.AttributeValue{":one": &ddbtypes.AttributeValueMemberN{Value: "1"}},
		}}},
	})
	return err
}

func row(name, text string) map[string]ddbtypes.AttributeValue {
	all := map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: name}}
	if text != "" {
		all["text"] = &ddbtypes.AttributeValueMemberS{Value: text}
	}
	return all
}

func (s *session) messages(ctx context.Context) error {
	client := sqs.NewFromConfig(s.cfg)
	_, dead := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: awssdk.String("dead")})
	_, live := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: awssdk.String("work"), Attributes: map[string]string{
		"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":1}`,
	}})
	receive := func() (*string, error) {
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: awssdk.String(sessionQueue), VisibilityTimeout: 600})
		if err != nil || len(out.Messages) == 0 {
			return nil, err
		}
		return out.Messages[0].ReceiptHandle, nil
	}
	errs := []error{dead, live}
	for _, body := range []string{"poison", "done", "held", "waits", "later"} {
		delay := int32(0)
		if body == "later" {
			delay = 600
		}
		_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: awssdk.String(sessionQueue), MessageBody: &body, DelaySeconds: delay})
		errs = append(errs, err)
	}
	poison, err := receive()
	_, visible := client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: awssdk.String(sessionQueue), ReceiptHandle: poison})
	done, second := receive()
	_, deletion := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: awssdk.String(sessionQueue), ReceiptHandle: done})
	held, third := receive()
	s.held = held
	return errors.Join(append(errs, err, visible, second, deletion, third)...)
}

func (s *session) objects(ctx context.Context) error {
	client := s3.NewFromConfig(s.cfg)
	bucket := awssdk.String("exports")
	_, lifecycle := client.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{
		Bucket: bucket, LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{Rules: []s3types.LifecycleRule{{
			Status: s3types.ExpirationStatusEnabled, Filter: &s3types.LifecycleRuleFilter{Prefix: awssdk.String("")},
			Expiration: &s3types.LifecycleExpiration{Days: awssdk.Int32(30)},
		}}},
	})
	errs := []error{lifecycle}
	for _, key := range []string{"gone", "kept", "kept"} {
		_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: bytes.NewReader([]byte(key)), Metadata: map[string]string{"task": "t1"}})
		errs = append(errs, err)
	}
	_, deletion := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: awssdk.String("gone")})
	for _, key := range []string{"aborted", "whole", "half"} {
		begun, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: &key})
		if err != nil {
			return err
		}
		s.upload = begun.UploadId
		part, err := client.UploadPart(ctx, &s3.UploadPartInput{Bucket: bucket, Key: &key, UploadId: s.upload, PartNumber: awssdk.Int32(1), Body: bytes.NewReader([]byte(key))})
		if err != nil {
			return err
		}
		s.partTag = part.ETag
		switch key {
		case "aborted":
			_, err = client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: bucket, Key: &key, UploadId: s.upload})
		case "whole":
			err = s.complete(ctx, key)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, deletion)...)
}

func (s *session) complete(ctx context.Context, key string) error {
	_, err := s3.NewFromConfig(s.cfg).CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: awssdk.String("exports"), Key: &key, UploadId: s.upload,
		MultipartUpload: &s3types.CompletedMultipartUpload{Parts: []s3types.CompletedPart{{ETag: s.partTag, PartNumber: awssdk.Int32(1)}}},
	})
	return err
}

func (s *session) versions(ctx context.Context) error {
	client := secretsmanager.NewFromConfig(s.cfg)
	_, empty := client.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: awssdk.String("empty"), Description: awssdk.String("no value yet")})
	_, pending := client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: awssdk.String("s"), SecretBinary: []byte{0, 255}, VersionStages: []string{"AWSPENDING", "mine"},
	})
	_, signing := kms.NewFromConfig(s.cfg).CreateKey(ctx, &kms.CreateKeyInput{KeySpec: kmstypes.KeySpecEccNistP384, KeyUsage: kmstypes.KeyUsageTypeSignVerify})
	return errors.Join(empty, pending, signing)
}

// goesOn checks that a cloud knows everything that the session holds in hand.
func (s *session) goesOn(t *testing.T, cloud *aws.Cloud) {
	t.Helper()
	s.cfg = cloud.Config("test")
	for _, p := range probes() {
		if err := p.check(t.Context(), s.cfg); err != nil {
			t.Errorf("%s: %v", p.service, err)
		}
	}
	if err := s.transaction(t.Context()); err != nil { // a repetition
		t.Error(err)
	}
	got, err := dynamodb.NewFromConfig(s.cfg).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: awssdk.String(itemsTable), Key: row("d", "")})
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := got.Item["n"].(*ddbtypes.AttributeValueMemberN); !ok || n.Value != "1" {
		t.Errorf("the repeated transaction counted to %v", got.Item["n"])
	}
	if err := s.complete(t.Context(), "half"); err != nil {
		t.Errorf("the upload in progress: %v", err)
	}
	queues := cloud.SQS().Snapshot()
	if _, err := sqs.NewFromConfig(s.cfg).DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: awssdk.String(sessionQueue), ReceiptHandle: s.held}); err != nil {
		t.Error(err)
	}
	for i, q := range cloud.SQS().Snapshot() {
		if q.Name == "work" && q.InFlight != queues[i].InFlight-1 {
			t.Errorf("the receipt handle of before deletes nothing: %+v", q)
		}
	}
}

// keepFiles links every file of one folder into another, so that it outlives its deletion.
func keepFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	for _, entry := range entries {
		if failed := os.Link(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())); failed != nil && !errors.Is(failed, os.ErrExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}
