package s3_test

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"recordbridge/infra/local/aws/s3"
)

const mib = 1 << 20

// upload is a multipart upload of the key "k", performed as the blob adapter does.
type upload struct {
	client *awss3.Client
	id     *string
}

func begin(t *testing.T, client *awss3.Client) upload {
	t.Helper()
	out, err := client.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"),
		ContentType: aws.String("application/fhir+ndjson"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		t.Fatal(err)
	}
	return upload{client, out.UploadId}
}

func (u upload) part(t *testing.T, number int32, body []byte) types.CompletedPart {
	t.Helper()
	out, err := u.client.UploadPart(t.Context(), &awss3.UploadPartInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, PartNumber: aws.Int32(number),
		Body: bytes.NewReader(body),
	})
	if err != nil {
		t.Fatalf("part %d: %v", number, err)
	}
	return types.CompletedPart{PartNumber: aws.Int32(number), ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32}
}

func (u upload) complete(t *testing.T, parts ...types.CompletedPart) (*awss3.CompleteMultipartUploadOutput, error) {
	t.Helper()
	return u.client.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
}

func TestRepeatedCompletionRequiresSamePartsAndUnchangedObject(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	u := begin(t, client)
	first, second := u.part(t, 1, filler('a', 5*mib)), u.part(t, 2, []byte("end"))
	out, err := u.complete(t, first, second)
	if err != nil {
		t.Fatal(err)
	}
	again, err := u.complete(t, first, second)
	if err != nil || aws.ToString(again.ETag) != aws.ToString(out.ETag) {
		t.Errorf("completed again: %+v, %v; want the first answer", again, err)
	}
	_, err = u.complete(t, first)
	wantCode(t, err, "NoSuchUpload")
	put(t, client, "k", "replaced")
	_, err = u.complete(t, first, second)
	wantCode(t, err, "NoSuchUpload")
}

func TestCompleteMultipartUploadWithChecksumsRequiresConsecutiveParts(t *testing.T) {
	t.Parallel()
	u := begin(t, newBucket(t))
	_, err := u.complete(t, u.part(t, 2, []byte("end")))
	wantCode(t, err, "InternalError") // the S3 documentation specifies this error
}

func TestMultipartPartsCanBeUploadedConcurrently(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	client := connect(newServer(t, s3.Options{Dir: dir, Journal: &memoryJournal{}}))
	createBucket(t, client)
	u := begin(t, client)
	const count = 6
	parts := make([]types.CompletedPart, count)
	var want []byte
	var group sync.WaitGroup
	for i := range count {
		body := filler(byte(i), 5*mib)
		want = append(want, body...)
		group.Go(func() { parts[i] = u.part(t, int32(i+1), body) })
	}
	group.Wait()

	// If two completions run concurrently, only one creates the object. The other completion receives the same response
	// and leaves no orphaned body.
	failures := make([]error, 2)
	for i := range failures {
		group.Go(func() { _, failures[i] = u.complete(t, parts...) })
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	if bodies, err := os.ReadDir(dir); err != nil || len(bodies) != 1 {
		t.Errorf("got %d bodies, %v, want one", len(bodies), err)
	}
	if !bytes.Equal(read(t, client, "k"), want) {
		t.Error("the body is not the parts after one another")
	}
}
