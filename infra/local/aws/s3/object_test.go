package s3_test

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/local/aws/s3"
)

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
