package s3_test

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/s3"
)

func TestAnObjectKeepsItsBodyHeadersAndMetadata(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	const body = "hello\nworld\n"
	written, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucketName), Key: aws.String("test/org/a.ndjson"), Body: strings.NewReader(body),
		ContentType: aws.String("application/fhir+ndjson"), ContentDisposition: aws.String(`attachment; filename="a.ndjson"`),
		ContentEncoding: aws.String("gzip"), CacheControl: aws.String("no-store"),
		Metadata: map[string]string{"task": "t1", "note": "two words"},
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := md5.Sum([]byte(body))
	if got, want := aws.ToString(written.ETag), `"`+hex.EncodeToString(sum[:])+`"`; got != want {
		t.Errorf("got ETag %s, want %s", got, want)
	}
	if written.ServerSideEncryption != types.ServerSideEncryptionAes256 {
		t.Errorf("got encryption %q, want AES256 by default", written.ServerSideEncryption)
	}
	head, err := client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucketName), Key: aws.String("test/org/a.ndjson")})
	if err != nil {
		t.Fatal(err)
	}
	got := []any{
		aws.ToString(head.ContentType), aws.ToString(head.ContentDisposition), aws.ToString(head.ContentEncoding),
		aws.ToString(head.CacheControl), aws.ToInt64(head.ContentLength), aws.ToString(head.ETag), head.Metadata,
	}
	want := []any{
		"application/fhir+ndjson", `attachment; filename="a.ndjson"`, "gzip", "no-store", int64(12), *written.ETag,
		map[string]string{"task": "t1", "note": "two words"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	if got := string(read(t, client, "test/org/a.ndjson")); got != body {
		t.Errorf("got body %q, want %q", got, body)
	}
}

func TestKMSEncryptionIsEchoedAndItsETagIsNoMD5(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	in := &awss3.PutObjectInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), Body: strings.NewReader("x"),
		ServerSideEncryption: types.ServerSideEncryptionAwsKms, SSEKMSKeyId: aws.String("alias/exports"), BucketKeyEnabled: aws.Bool(true),
	}
	written, err := client.PutObject(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	head, err := client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	if written.ServerSideEncryption != "aws:kms" || aws.ToString(written.SSEKMSKeyId) != "alias/exports" ||
		head.ServerSideEncryption != "aws:kms" || aws.ToString(head.SSEKMSKeyId) != "alias/exports" || !aws.ToBool(head.BucketKeyEnabled) {
		t.Errorf("got put %+v and head %+v, want the encryption asked for", written, head)
	}
	if sum := md5.Sum([]byte("x")); strings.Contains(aws.ToString(written.ETag), hex.EncodeToString(sum[:])) {
		t.Errorf("got the MD5 as ETag under KMS")
	}
	in.ServerSideEncryption = "aws:fancy"
	in.Body = strings.NewReader("x")
	_, err = client.PutObject(t.Context(), in)
	wantCode(t, err, "InvalidArgument")
}

func TestKeysMayHoldWhatS3Allows(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	keys := []string{
		"plain", "a b", "a+b", "a%2Fb", "a//b", "/leading", "../up/./here", "ümlaut", "q?x=1&y#z", "trailing/", strings.Repeat("k", 1024),
	}
	for i, key := range keys {
		put(t, client, key, strconv.Itoa(i))
	}
	for i, key := range keys {
		if got, want := string(read(t, client, key)), strconv.Itoa(i); got != want {
			t.Errorf("key %q: got %q, want %q", key, got, want)
		}
	}
	_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucketName), Key: aws.String(strings.Repeat("k", 1025)), Body: strings.NewReader("x"),
	})
	wantCode(t, err, "KeyTooLongError")
}

func TestMissingThingsHaveS3sOwnErrors(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	_, err := client.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucketName), Key: aws.String("nope")})
	if _, ok := errors.AsType[*types.NoSuchKey](err); !ok {
		t.Errorf("get: got %v, want NoSuchKey", err)
	}
	_, err = client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucketName), Key: aws.String("nope")})
	if _, ok := errors.AsType[*types.NotFound](err); !ok {
		t.Errorf("head: got %v, want NotFound", err)
	}
	_, err = client.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("other"), Key: aws.String("k"), Body: strings.NewReader("x")})
	wantCode(t, err, "NoSuchBucket")
	_, err = client.HeadBucket(t.Context(), &awss3.HeadBucketInput{Bucket: aws.String("other")})
	wantCode(t, err, "NotFound")
	_, err = client.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String("other"), Key: aws.String("k")})
	wantCode(t, err, "NoSuchBucket")
	if _, err := client.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(bucketName), Key: aws.String("nope")}); err != nil {
		t.Errorf("delete of a missing key: got %v, want success", err)
	}
}

func TestARangeOfAnObjectCanBeRead(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	put(t, client, "digits", "0123456789")
	put(t, client, "empty", "")
	tests := map[string]struct{ key, header, body, contentRange, code string }{
		"middle":               {"digits", "bytes=2-5", "2345", "bytes 2-5/10", ""},
		"from an offset":       {"digits", "bytes=7-", "789", "bytes 7-9/10", ""},
		"the last bytes":       {"digits", "bytes=-3", "789", "bytes 7-9/10", ""},
		"more than there is":   {"digits", "bytes=8-99", "89", "bytes 8-9/10", ""},
		"a suffix over all":    {"digits", "bytes=-99", "0123456789", "bytes 0-9/10", ""},
		"behind the end":       {"digits", "bytes=10-", "", "", "InvalidRange"},
		"an empty suffix":      {"digits", "bytes=-0", "", "", "InvalidRange"},
		"of an empty object":   {"empty", "bytes=0-", "", "", "InvalidRange"},
		"several are ignored":  {"digits", "bytes=0-1,3-4", "0123456789", "", ""},
		"backwards is ignored": {"digits", "bytes=5-2", "0123456789", "", ""},
		"nonsense is ignored":  {"digits", "lines=1-2", "0123456789", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := client.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucketName), Key: aws.String(tt.key), Range: aws.String(tt.header)})
			if tt.code != "" {
				wantCode(t, err, tt.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := []any{string(drain(t, out.Body)), aws.ToString(out.ContentRange), aws.ToInt64(out.ContentLength)}
			if diff := cmp.Diff([]any{tt.body, tt.contentRange, int64(len(tt.body))}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWriteCanDependOnWhatItReplaces(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	write := func(body string, change func(*awss3.PutObjectInput)) (string, error) {
		in := &awss3.PutObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k"), Body: strings.NewReader(body)}
		change(in)
		out, err := client.PutObject(t.Context(), in)
		if err != nil {
			return "", err
		}
		return aws.ToString(out.ETag), nil
	}
	ifAbsent := func(in *awss3.PutObjectInput) { in.IfNoneMatch = aws.String("*") }
	ifMatch := func(etag string) func(*awss3.PutObjectInput) {
		return func(in *awss3.PutObjectInput) { in.IfMatch = aws.String(etag) }
	}

	_, err := write("none", ifMatch(`"0"`))
	wantCode(t, err, "NoSuchKey")
	first, err := write("first", ifAbsent)
	if err != nil {
		t.Fatal(err)
	}
	_, err = write("second", ifAbsent)
	wantCode(t, err, "PreconditionFailed")
	if _, err = write("third", ifMatch(first)); err != nil {
		t.Errorf("the ETag matches, yet: %v", err)
	}
	_, err = write("fourth", ifMatch(first))
	wantCode(t, err, "PreconditionFailed")
	_, err = write("fifth", func(in *awss3.PutObjectInput) { in.IfNoneMatch = aws.String(first) })
	wantCode(t, err, "NotImplemented")
	if got := string(read(t, client, "k")); got != "third" {
		t.Errorf("got %q, want the one write whose condition held", got)
	}
}

func TestOnlyOneOfManyConditionalWritesWins(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	var wins sync.Map
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			body := strconv.Itoa(i)
			_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
				Bucket: aws.String(bucketName), Key: aws.String("once"), Body: strings.NewReader(body), IfNoneMatch: aws.String("*"),
			})
			if err == nil {
				wins.Store(body, true)
			}
		})
	}
	group.Wait()
	got := 0
	wins.Range(func(winner, _ any) bool {
		got++
		if body := string(read(t, client, "once")); body != winner {
			t.Errorf("got body %q, want the winner's %q", body, winner)
		}
		return true
	})
	if got != 1 {
		t.Errorf("got %d winners, want 1", got)
	}
}

func TestAReadCanDependOnTheETagAndTheDate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newBucket(t)
		put(t, client, "k", "body")
		<-time.After(time.Hour)
		sum := md5.Sum([]byte("body"))
		etag := `"` + hex.EncodeToString(sum[:]) + `"`
		tests := []struct {
			name string
			set  func(*awss3.HeadObjectInput)
			want string
		}{
			{"same tag wanted", func(in *awss3.HeadObjectInput) { in.IfMatch = &etag }, ""},
			{"other tag wanted", func(in *awss3.HeadObjectInput) { in.IfMatch = aws.String(`"0"`) }, "PreconditionFailed"},
			{"same tag known", func(in *awss3.HeadObjectInput) { in.IfNoneMatch = aws.String(`"0", ` + etag) }, "NotModified"},
			{"other tag known", func(in *awss3.HeadObjectInput) { in.IfNoneMatch = aws.String(`"0"`) }, ""},
			{"unchanged since", func(in *awss3.HeadObjectInput) { in.IfModifiedSince = aws.Time(time.Now()) }, "NotModified"},
			{"changed since", func(in *awss3.HeadObjectInput) { in.IfModifiedSince = aws.Time(time.Now().Add(-2 * time.Hour)) }, ""},
			{"must not have changed", func(in *awss3.HeadObjectInput) { in.IfUnmodifiedSince = aws.Time(time.Now().Add(-2 * time.Hour)) }, "PreconditionFailed"},
		}
		for _, tt := range tests {
			in := &awss3.HeadObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k")}
			tt.set(in)
			_, err := client.HeadObject(t.Context(), in)
			if tt.want == "" && err != nil {
				t.Errorf("%s: got %v, want the object", tt.name, err)
			} else if tt.want != "" {
				wantCode(t, err, tt.want)
			}
		}
	})
}

func TestAReaderFinishesTheBodyThatIsReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{Dir: t.TempDir()})
	listener := httptest.NewServer(inProcess{server}) // a recorder would take the whole body at once
	t.Cleanup(listener.Close)
	client := connect(server, func(o *awss3.Options) {
		o.HTTPClient, o.BaseEndpoint = listener.Client(), aws.String(listener.URL)
	})
	createBucket(t, client)
	old := string(filler('a', 16<<20)) // more than the socket's buffers hold
	put(t, client, "k", old)
	out, err := client.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	put(t, client, "k", "new")
	if got := string(drain(t, out.Body)); got != old {
		t.Errorf("got %d other bytes, want the old body", len(got))
	}
	if got := string(read(t, client, "k")); got != "new" {
		t.Errorf("got %q, want the new body", got)
	}
}

func TestTheSDKItselfRefusesAnUnseekableBodyWithoutTLS(t *testing.T) {
	t.Parallel()
	in := func() *awss3.PutObjectInput {
		return &awss3.PutObjectInput{
			Bucket: aws.String(bucketName), Key: aws.String("k"), ContentLength: aws.Int64(3),
			Body: io.MultiReader(strings.NewReader("abc")),
		}
	}
	if _, err := newBucket(t).PutObject(t.Context(), in()); err == nil || !strings.Contains(err.Error(), "unseekable stream") {
		t.Errorf("got %v; if the SDK has learnt to send it, callers no longer need a seekable body", err)
	}
	client := newBucket(t, overTLS)
	if _, err := client.PutObject(t.Context(), in()); err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, client, "k")); got != "abc" {
		t.Errorf("got %q, want abc", got)
	}
}
