package s3_test

import (
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/s3"
)

// TestWhatIsLeftOutIsRefused: features of S3 that the emulator does not have must not be ignored. What S3 itself refuses
// is in the scripts of package judge.
func TestWhatIsLeftOutIsRefused(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	createBucket(t, connect(server))
	put(t, connect(server), "k", "body")
	tests := map[string]struct {
		request raw
		status  int
		code    string
	}{
		"another storage class":       {raw{http.MethodPut, "/exports/k", "", map[string]string{"X-Amz-Storage-Class": "GLACIER"}}, 501, "NotImplemented"},
		"a bucket with object lock":   {raw{http.MethodPut, "/other", "", map[string]string{"X-Amz-Bucket-Object-Lock-Enabled": "true"}}, 501, "NotImplemented"},
		"a bucket for everybody":      {raw{http.MethodPut, "/other", "", map[string]string{"X-Amz-Acl": "public-read"}}, 501, "NotImplemented"},
		"a key of the client":         {raw{http.MethodGet, "/exports/k", "", map[string]string{"X-Amz-Server-Side-Encryption-Customer-Key": "a"}}, 501, "NotImplemented"},
		"a delete on the size":        {raw{http.MethodDelete, "/exports/k", "", map[string]string{"X-Amz-If-Match-Size": "4"}}, 501, "NotImplemented"},
		"deletes of versions":         {protected(http.MethodPost, "/exports?delete=", "<Delete><Object><Key>k</Key><VersionId>1</VersionId></Object></Delete>"), 501, "NotImplemented"},
		"an unknown lifecycle action": {lifecycleOf("<Burn/>"), 400, "MalformedXML"},
		"an expiration without a day": {lifecycleOf("<Expiration/>"), 400, "MalformedXML"},
		"an abort without a day":      {lifecycleOf("<AbortIncompleteMultipartUpload/>"), 400, "MalformedXML"},
		"an abort after no days": {
			lifecycleOf("<AbortIncompleteMultipartUpload><DaysAfterInitiation>0</DaysAfterInitiation></AbortIncompleteMultipartUpload>"), 400, "InvalidArgument",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, answer := tt.request.send(t, inProcess{server})
			if status != tt.status || !strings.Contains(answer, "<Code>"+tt.code+"</Code>") {
				t.Errorf("got %d %s, want %d %s", status, answer, tt.status, tt.code)
			}
		})
	}
}

// protected is a request whose body has its digest.
func protected(method, target, body string) raw {
	sum := md5.Sum([]byte(body))
	return raw{method, target, body, map[string]string{"Content-Md5": base64.StdEncoding.EncodeToString(sum[:])}}
}

func lifecycleOf(action string) raw {
	return protected(http.MethodPut, "/exports?lifecycle=",
		"<LifecycleConfiguration><Rule><Prefix/><Status>Enabled</Status>"+action+"</Rule></LifecycleConfiguration>")
}

func TestEveryKeyOfACallIsDeletedOnItsOwnCondition(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	put(t, client, "same", "body")
	put(t, client, "changed", "body")
	out, err := client.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: aws.String(bucketName), Delete: &types.Delete{
		Quiet: aws.Bool(true),
		Objects: []types.ObjectIdentifier{
			{Key: aws.String("same"), ETag: aws.String(`"841a2d689ad86bd1611447453c22c6fc"`)},
			{Key: aws.String("changed"), ETag: aws.String(`"0"`)},
			{Key: aws.String("missing"), ETag: aws.String("*")},
			{Key: aws.String(strings.Repeat("k", 1025))},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(out.Errors))
	for _, failure := range out.Errors {
		got = append(got, aws.ToString(failure.Code))
	}
	if diff := cmp.Diff([]string{"PreconditionFailed", "NoSuchKey", "KeyTooLongError"}, got); diff != "" || len(out.Deleted) != 0 {
		t.Errorf("deleted %v; errors (-want +got):\n%s", out.Deleted, diff)
	}
	if diff := cmp.Diff([]string{"changed"}, listAll(t, client, &awss3.ListObjectsV2Input{Bucket: aws.String(bucketName), MaxKeys: aws.Int32(9)})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPartsWithCompositeChecksumsLeaveNoGap(t *testing.T) {
	t.Parallel()
	u := begin(t, newBucket(t))
	_, err := u.complete(t, u.part(t, 2, []byte("end")))
	wantCode(t, err, "InternalError") // so S3 documents it
}

func TestAClaimOfAnotherAlgorithmThanTheUploadsIsRefused(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	u := begin(t, client)
	end := u.part(t, 1, []byte("end"))
	in := &awss3.CompleteMultipartUploadInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, ChecksumSHA1: aws.String("2jmj7l5rSw0yVb/vlWAYkK/YBwk="),
		MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{end}},
	}
	_, err := client.CompleteMultipartUpload(t.Context(), in)
	wantCode(t, err, "BadDigest")
}
