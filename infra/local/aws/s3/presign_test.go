package s3_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/local/aws/s3"
)

// presignGet makes the kind of URL that downloadexport answers.
func presignGet(t *testing.T, client *awss3.Client, key string, life time.Duration) *v4.PresignedHTTPRequest {
	t.Helper()
	out, err := awss3.NewPresignClient(client).PresignGetObject(t.Context(), &awss3.GetObjectInput{
		Bucket: aws.String(bucketName), Key: aws.String(key),
		ResponseContentType:        aws.String("application/fhir+ndjson"),
		ResponseContentDisposition: aws.String(`attachment; filename="records.ndjson"`),
	}, awss3.WithPresignExpires(life))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// open follows a URL as a browser does, without any header of AWS.
func open(t *testing.T, server *s3.Server, method, url, body string) answer {
	t.Helper()
	return inProcess{server}.ask(httptest.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))
}

func TestAPresignedURLServesTheObjectUntilItExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, s3.Options{})
		client := connect(server)
		createBucket(t, client)
		put(t, client, "a b/c.ndjson", "{}\n")
		url := presignGet(t, client, "a b/c.ndjson", 5*time.Minute).URL

		<-time.After(5 * time.Minute)
		resp := open(t, server, http.MethodGet, url, "")
		if resp.status != http.StatusOK || resp.body != "{}\n" {
			t.Fatalf("at the last second: got %d %q, want the object", resp.status, resp.body)
		}
		if got, want := resp.header.Get("Content-Type"), "application/fhir+ndjson"; got != want {
			t.Errorf("got type %q, want the override %q", got, want)
		}
		if got, want := resp.header.Get("Content-Disposition"), `attachment; filename="records.ndjson"`; got != want {
			t.Errorf("got disposition %q, want the override %q", got, want)
		}

		<-time.After(time.Second)
		resp = open(t, server, http.MethodGet, url, "")
		if resp.status != http.StatusForbidden || !strings.Contains(resp.body, "<Code>AccessDenied</Code>") || !strings.Contains(resp.body, "expired") {
			t.Errorf("a second later: got %d %s, want AccessDenied", resp.status, resp.body)
		}
	})
}

func TestAPresignedURLOpensNothingElse(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	client := connect(server)
	createBucket(t, client)
	put(t, client, "mine", "mine")
	put(t, client, "yours", "yours")
	url := presignGet(t, client, "mine", time.Minute).URL
	tests := map[string]struct{ method, url, code string }{
		"another key":         {http.MethodGet, strings.Replace(url, "/mine", "/yours", 1), "SignatureDoesNotMatch"},
		"another method":      {http.MethodDelete, url, "SignatureDoesNotMatch"},
		"a longer life":       {http.MethodGet, strings.Replace(url, "Expires=60", "Expires=600", 1), "SignatureDoesNotMatch"},
		"another file name":   {http.MethodGet, strings.Replace(url, "records.ndjson", "records.html", 1), "SignatureDoesNotMatch"},
		"without a signature": {http.MethodGet, strings.Split(url, "?")[0], "AccessDenied"},
		"an added override":   {http.MethodGet, url + "&response-cache-control=x", "SignatureDoesNotMatch"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.url == url && tt.method == http.MethodGet {
				t.Fatal("the URL was not changed: the SDK writes it in another way now")
			}
			resp := open(t, server, tt.method, tt.url, "")
			if resp.status != http.StatusForbidden || !strings.Contains(resp.body, "<Code>"+tt.code+"</Code>") {
				t.Errorf("got %d %s, want 403 %s", resp.status, resp.body, tt.code)
			}
		})
	}
}

func TestAPresignedUploadTakesTheBody(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	client := connect(server)
	createBucket(t, client)
	out, err := awss3.NewPresignClient(client).PresignPutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucketName), Key: aws.String("up")})
	if err != nil {
		t.Fatal(err)
	}
	if resp := open(t, server, http.MethodPut, out.URL, "body"); resp.status != http.StatusOK {
		t.Fatalf("got %d %s, want 200", resp.status, resp.body)
	}
	if got := string(read(t, client, "up")); got != "body" {
		t.Errorf("got %q, want body", got)
	}
}

func TestACallerWithAnotherSecretIsRefused(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	createBucket(t, connect(server))
	stranger := connect(server, func(o *awss3.Options) {
		o.Credentials = credentials.NewStaticCredentialsProvider("ExportWorker", "guess", "")
	})
	_, err := stranger.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k")})
	wantCode(t, err, "Forbidden") // a HEAD has no body, so the SDK goes by the status
	_, err = stranger.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k"), Body: strings.NewReader("x")})
	wantCode(t, err, "SignatureDoesNotMatch")
}
