package awsobject_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/local/aws"
	"recordbridge/shared/config/awscall"
	"recordbridge/shared/config/awsobject"
	"recordbridge/shared/testkit/expect"
)

const key = "test/org/conn +1/2/alder.xml/0"

func bucket(t *testing.T, name string) (awsobject.Bucket, *s3.Client) {
	t.Helper()
	cloud, err := aws.New(aws.Options{URL: "http://127.0.0.1"})
	expect.NoError(t, err)
	t.Cleanup(func() { _ = cloud.Close() })
	client, exists := s3.NewFromConfig(cloud.Config("test")), "records"
	_, err = client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &exists})
	expect.NoError(t, err)
	return awsobject.Bucket{Config: cloud.Config("test"), Now: time.Now, Name: name}, client
}

func read(ctx context.Context, t *testing.T, client *s3.Client) (string, string) {
	t.Helper()
	name, of := "records", key
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &name, Key: &of})
	if err != nil {
		return "", ""
	}
	body, err := io.ReadAll(out.Body)
	expect.NoError(t, err)
	return string(body), *out.ContentType
}

// TestAnObjectIsWrittenAndRemoved as the client of S3 would, which reads it: address and signature are checked on the way.
func TestAnObjectIsWrittenAndRemoved(t *testing.T) {
	t.Parallel()
	b, client := bucket(t, "records")
	expect.NoError(t, b.Put(t.Context(), key, "application/octet-stream", []byte("sealed\x00")))
	if body, kind := read(t.Context(), t, client); body != "sealed\x00" || kind != "application/octet-stream" {
		t.Errorf("there is %q of %q", body, kind)
	}
	for range 2 {
		expect.NoError(t, b.Delete(t.Context(), key))
	}
	if body, _ := read(t.Context(), t, client); body != "" {
		t.Errorf("there still is %q", body)
	}
}

func TestARefusalTellsItsCodeAndNothingOfTheObject(t *testing.T) {
	t.Parallel()
	b, _ := bucket(t, "other")
	err := b.Put(t.Context(), key, "text/plain", []byte("sealed"))
	refused, ok := errors.AsType[*awscall.RefusedError](err)
	if !ok || refused.Code != "NoSuchBucket" || refused.Status != http.StatusNotFound || strings.Contains(err.Error(), "alder") {
		t.Errorf("refused with %v", err)
	}
}

// answers are those of a service, one after the other.
type answers struct {
	all  []int
	sent []string
}

// Do implements aws.HTTPClient.
func (a *answers) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	a.sent = append(a.sent, string(body))
	status := a.all[0]
	a.all = a.all[1:]
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("<Error><Code>SlowDown</Code></Error>"))}, err
}

func TestABusyServiceIsAskedOnceMoreWithTheWholeBody(t *testing.T) {
	t.Parallel()
	b, _ := bucket(t, "records")
	service := &answers{all: []int{http.StatusServiceUnavailable, http.StatusOK}}
	b.Config.HTTPClient = service
	b.Config.Retryer = func() awssdk.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
	}
	if err := b.Put(t.Context(), key, "text/plain", []byte("sealed")); err != nil || strings.Join(service.sent, ",") != "sealed,sealed" {
		t.Errorf("sent %v, %v", service.sent, err)
	}
}
