package s3_test

import (
	"bytes"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"recordbridge/infra/local/aws/s3"
)

func TestAPartCanBeCopiedFromAnObject(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"memory": "", "folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := connect(newServer(t, s3.Options{Dir: dir}))
			createBucket(t, client)
			source := filler('s', 6*mib)
			put(t, client, "segment 1", string(source))
			u := begin(t, client)
			copyPart := func(number int32, span string) (types.CompletedPart, error) {
				in := &awss3.UploadPartCopyInput{
					Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, PartNumber: aws.Int32(number),
					CopySource: aws.String(bucketName + "/segment%201"),
				}
				if span != "" {
					in.CopySourceRange = aws.String(span)
				}
				out, err := client.UploadPartCopy(t.Context(), in)
				if err != nil {
					return types.CompletedPart{}, err
				}
				return types.CompletedPart{PartNumber: aws.Int32(number), ETag: out.CopyPartResult.ETag, ChecksumCRC32: out.CopyPartResult.ChecksumCRC32}, nil
			}
			for _, outside := range []string{"bytes=0-6291456", "bytes=5-", "bytes=-5", "bytes=3-2", "0-1"} {
				_, err := copyPart(1, outside)
				wantCode(t, err, "InvalidArgument")
			}
			whole, err := copyPart(1, "")
			if err != nil {
				t.Fatal(err)
			}
			span, err := copyPart(2, "bytes=10-19")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := u.complete(t, whole, span); err != nil {
				t.Fatal(err)
			}
			if got, want := read(t, client, "k"), append(bytes.Clone(source), source[10:20]...); !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, want the source and a part of it", len(got))
			}
		})
	}
}

func TestCopyingAPartRefusesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	put(t, client, "source", "source")
	u := begin(t, client)
	tests := map[string]struct {
		change func(*awss3.UploadPartCopyInput)
		code   string
	}{
		"no such key":       {func(in *awss3.UploadPartCopyInput) { in.CopySource = aws.String(bucketName + "/nope") }, "NoSuchKey"},
		"no such bucket":    {func(in *awss3.UploadPartCopyInput) { in.CopySource = aws.String("other/source") }, "NoSuchBucket"},
		"no key":            {func(in *awss3.UploadPartCopyInput) { in.CopySource = aws.String("source") }, "InvalidArgument"},
		"changed meanwhile": {func(in *awss3.UploadPartCopyInput) { in.CopySourceIfMatch = aws.String(`"0"`) }, "PreconditionFailed"},
		"a version":         {func(in *awss3.UploadPartCopyInput) { in.CopySource = aws.String(bucketName + "/source?versionId=1") }, "NotImplemented"},
		"small for ranges":  {func(in *awss3.UploadPartCopyInput) { in.CopySourceRange = aws.String("bytes=0-2") }, "InvalidRequest"},
		"another owner":     {func(in *awss3.UploadPartCopyInput) { in.ExpectedSourceBucketOwner = aws.String("999999999999") }, "AccessDenied"},
		"no such upload":    {func(in *awss3.UploadPartCopyInput) { in.UploadId = aws.String("nope") }, "NoSuchUpload"},
		"part number zero":  {func(in *awss3.UploadPartCopyInput) { in.PartNumber = aws.Int32(0) }, "InvalidArgument"},
		"part number large": {func(in *awss3.UploadPartCopyInput) { in.PartNumber = aws.Int32(10_001) }, "InvalidArgument"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := &awss3.UploadPartCopyInput{
				Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, PartNumber: aws.Int32(1), CopySource: aws.String(bucketName + "/source"),
			}
			tt.change(in)
			_, err := client.UploadPartCopy(t.Context(), in)
			wantCode(t, err, tt.code)
		})
	}
}
