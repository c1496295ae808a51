package s3_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws/s3"
	"recordbridge/infra/local/aws/sigv4"
	"recordbridge/infra/local/aws/wire"
)

const bucketName = "exports"

var errNoSpace = errors.New("no space left")

// inProcess is an aws.HTTPClient that calls the server without a socket, as aws.Cloud does.
type inProcess struct {
	server *s3.Server
}

func (c inProcess) Do(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	c.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

func (c inProcess) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	signatures := sigv4.New("us-east-1", func(string) (string, bool) { return "local", true })
	if _, err := signatures.Verify(r, c.server.Name(), time.Now()); err != nil {
		if refusal, ok := errors.AsType[*sigv4.Error](err); ok {
			c.server.Refuse(w, r, refusal.Code, refusal.Message)
			return
		}
	}
	c.server.Serve(w, r, wire.Call{Service: c.server.Name(), Operation: c.server.Operation(r)})
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (c inProcess) ask(r *http.Request) answer {
	recorder := httptest.NewRecorder()
	c.ServeHTTP(recorder, r)
	return answer{recorder.Code, recorder.Header(), recorder.Body.String()}
}

// memoryJournal stores records for replay. While failing is set, Append returns an error.
type memoryJournal struct {
	mu      sync.Mutex
	records []json.RawMessage
	failing bool
}

func (j *memoryJournal) Append(service string, record any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failing || service != "s3" {
		return errNoSpace
	}
	raw, err := json.Marshal(record)
	j.records = append(j.records, raw)
	return err
}

func newServer(t *testing.T, o s3.Options) *s3.Server {
	t.Helper()
	server, err := s3.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// connect returns an SDK client for the server. It first applies each change to the client's options.
func connect(server *s3.Server, change ...func(*awss3.Options)) *awss3.Client {
	o := awss3.Options{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("ExportWorker", "local", ""),
		BaseEndpoint: aws.String("http://127.0.0.1:4566"), UsePathStyle: true,
		HTTPClient: inProcess{server}, RetryMaxAttempts: 1,
		// config.LoadDefaultConfig, which Recordbridge's functions use, sets these options.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	return awss3.New(o, change...)
}

func newBucket(t *testing.T) *awss3.Client {
	t.Helper()
	client := connect(newServer(t, s3.Options{}))
	createBucket(t, client)
	return client
}

func createBucket(t *testing.T, client *awss3.Client) {
	t.Helper()
	if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(bucketName)}); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, client *awss3.Client, key, body string) {
	t.Helper()
	_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucketName), Key: aws.String(key), Body: strings.NewReader(body),
	})
	if err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
}

func read(t *testing.T, client *awss3.Client, key string) []byte {
	t.Helper()
	out, err := client.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucketName), Key: aws.String(key)})
	if err != nil {
		t.Fatalf("get %q: %v", key, err)
	}
	return drain(t, out.Body)
}

func listAll(t *testing.T, client *awss3.Client, in *awss3.ListObjectsV2Input) []string {
	t.Helper()
	page, err := client.ListObjectsV2(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]string, len(page.Contents))
	for i, o := range page.Contents {
		keys[i] = aws.ToString(o.Key)
	}
	return keys
}

func drain(t *testing.T, body io.ReadCloser) []byte {
	t.Helper()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatalf("read the body: %v", err)
	}
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
	return data
}

func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	if failure, ok := errors.AsType[smithy.APIError](err); !ok || failure.ErrorCode() != want {
		t.Errorf("got error %v, want code %s", err, want)
	}
}

// raw is a request that no SDK would send. The signature covers the declared body hash, which may be wrong.
type raw struct {
	method, target, body string
	header               map[string]string
}

func (q raw) send(t *testing.T, client inProcess) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), q.method, "http://127.0.0.1:4566"+q.target,
		strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	signed := aws.Credentials{AccessKeyID: "Test", SecretAccessKey: "local"}
	if err = signer.SignHTTP(t.Context(), signed, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", "us-east-1",
		time.Now()); err != nil {
		t.Fatal(err)
	}
	got := client.ask(r)
	return got.status, got.body
}

// filler returns size bytes of a repeating pattern that depends on seed.
func filler(seed byte, size int) []byte {
	block := make([]byte, 1021)
	for i := range block {
		block[i] = seed + byte(i*7)
	}
	return bytes.Repeat(block, size/len(block)+1)[:size]
}

func TestGetObjectCompletesOldBodyWhenObjectIsReplaced(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{Dir: t.TempDir()})
	listener := httptest.NewServer(inProcess{server}) // a response recorder would accept the complete body at once
	t.Cleanup(listener.Close)
	client := connect(server, func(o *awss3.Options) {
		o.HTTPClient, o.BaseEndpoint = listener.Client(), aws.String(listener.URL)
	})
	createBucket(t, client)
	old := string(filler('a', 16<<20)) // more than the socket buffers can hold
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
