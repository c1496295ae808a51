package iam_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"recordbridge/infra/local/template"
)

func onObjects[In, Out any](call func(*s3.Client, context.Context, *In, ...func(*s3.Options)) (*Out, error),
	in In,
) step {
	return func(ctx context.Context, cfg awssdk.Config) error {
		_, err := call(s3.NewFromConfig(cfg), ctx, new(in))
		return err
	}
}

func putObject(bucket, key string) step {
	return func(ctx context.Context, cfg awssdk.Config) error {
		_, err := s3.NewFromConfig(cfg).PutObject(ctx,
			&s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("body")})
		return err
	}
}

func getObject(bucket, key string) step {
	return func(ctx context.Context, cfg awssdk.Config) error {
		out, err := s3.NewFromConfig(cfg).GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, out.Body)
		return err
	}
}

// uploaded returns two steps: one that creates a multipart upload, and one that passes the upload's ID to use.
func uploaded(use func(client *s3.Client, ctx context.Context, id *string) error) (prepare, do step) {
	var id *string
	prepare = func(ctx context.Context, cfg awssdk.Config) error {
		client := s3.NewFromConfig(cfg)
		begun, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: new("sealed"), Key: new("k")})
		if err != nil {
			return err
		}
		id = begun.UploadId
		if err = putObject("plain", "source")(ctx, cfg); err != nil {
			return err
		}
		_, err = client.UploadPart(ctx, part(1, id))
		return err
	}
	do = func(ctx context.Context, cfg awssdk.Config) error { return use(s3.NewFromConfig(cfg), ctx, id) }
	return prepare, do
}

func part(number int32, id *string) *s3.UploadPartInput {
	return &s3.UploadPartInput{
		Bucket: new("sealed"), Key: new("k"), UploadId: id, PartNumber: &number,
		Body: bytes.NewReader([]byte("part")),
	}
}

// partTag is the entity tag of a part whose content is "part".
const partTag = `"f4c9385f1902f7334b00b9b4ecd164de"`

func objectOperations() map[string]operation {
	plainKey, sealedKey := plainARN+"/k", sealedARN+"/k"
	decrypt, generate := allow("kms:Decrypt", filesKey), allow("kms:GenerateDataKey", filesKey)
	operations := map[string]operation{
		"PutObject": {needs: one("s3:PutObject", plainKey), do: putObject("plain", "k")},
		"PutObject encrypted": {
			needs: []template.Statement{allow("s3:PutObject", sealedKey), generate},
			do:    putObject("sealed", "k"),
		},
		"GetObject": {
			needs: one("s3:GetObject", plainKey), prepare: putObject("plain", "k"),
			do: getObject("plain", "k"),
		},
		"GetObject encrypted": {
			needs:   []template.Statement{allow("s3:GetObject", sealedKey), decrypt},
			prepare: putObject("sealed", "k"), do: getObject("sealed", "k"),
		},
		"HeadObject encrypted": {
			needs: one("s3:GetObject", sealedKey), prepare: putObject("sealed", "k"),
			do: onObjects((*s3.Client).HeadObject, s3.HeadObjectInput{Bucket: new("sealed"), Key: new("k")}),
		},
		"HeadObject with the checksum": {
			needs: []template.Statement{allow("s3:GetObject", sealedKey), decrypt}, prepare: putObject("sealed", "k"),
			do: onObjects((*s3.Client).HeadObject, s3.HeadObjectInput{
				Bucket: new("sealed"), Key: new("k"),
				ChecksumMode: types.ChecksumModeEnabled,
			}),
		},
		"DeleteObject": {
			needs: one("s3:DeleteObject", sealedKey),
			do:    onObjects((*s3.Client).DeleteObject, s3.DeleteObjectInput{Bucket: new("sealed"), Key: new("k")}),
		},
		"ListObjectsV2": {
			needs: one("s3:ListBucket", plainARN),
			do:    onObjects((*s3.Client).ListObjectsV2, s3.ListObjectsV2Input{Bucket: new("plain")}),
		},
		"ListBuckets": {
			needs: one("s3:ListAllMyBuckets", "*"),
			do:    onObjects((*s3.Client).ListBuckets, s3.ListBucketsInput{}),
		},
		"CreateMultipartUpload": {
			needs: []template.Statement{allow("s3:PutObject", sealedKey), generate},
			do: onObjects((*s3.Client).CreateMultipartUpload,
				s3.CreateMultipartUploadInput{Bucket: new("sealed"), Key: new("k")}),
		},
	}
	for name, u := range uploads(sealedKey, decrypt) {
		prepare, do := uploaded(u.use)
		operations[name] = operation{needs: u.needs, prepare: prepare, do: do}
	}
	return operations
}

// upload is a test case for a call that uses a multipart upload in progress.
type upload struct {
	needs []template.Statement
	use   func(client *s3.Client, ctx context.Context, id *string) error
}

func uploads(key string, decrypt template.Statement) map[string]upload {
	write := []template.Statement{allow("s3:PutObject", key), decrypt}
	return map[string]upload{
		"UploadPart": {write, func(client *s3.Client, ctx context.Context, id *string) error {
			_, err := client.UploadPart(ctx, part(2, id))
			return err
		}},
		"UploadPartCopy": {
			slices.Concat(write, one("s3:GetObject", plainARN+"/source")),
			func(client *s3.Client, ctx context.Context, id *string) error {
				_, err := client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
					Bucket: new("sealed"), Key: new("k"), UploadId: id, PartNumber: new(int32(2)), CopySource: new("plain/source"),
				})
				return err
			},
		},
		"CompleteMultipartUpload": {write, func(client *s3.Client, ctx context.Context, id *string) error {
			_, err := client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
				Bucket: new("sealed"), Key: new("k"), UploadId: id,
				MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{{
					PartNumber: new(int32(1)),
					ETag:       new(partTag),
				}}},
			})
			return err
		}},
		"AbortMultipartUpload": {
			one("s3:AbortMultipartUpload", key),
			func(client *s3.Client, ctx context.Context, id *string) error {
				_, err := client.AbortMultipartUpload(ctx,
					&s3.AbortMultipartUploadInput{Bucket: new("sealed"), Key: new("k"), UploadId: id})
				return err
			},
		},
	}
}

func TestPresignedURLIsLimitedToSignerPermissions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		statements []template.Statement
		want       int
	}{
		"who may read": {[]template.Statement{
			allow("s3:GetObject", sealedARN+"/*"),
			allow("kms:Decrypt", filesKey),
		}, http.StatusOK},
		"who may not open": {[]template.Statement{allow("s3:GetObject", sealedARN+"/*")}, http.StatusForbidden},
		"who may read other keys": {[]template.Statement{
			allow("s3:GetObject", sealedARN+"/other/*"),
			allow("kms:Decrypt", filesKey),
		}, http.StatusForbidden},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud, _ := start(t, world(tt.statements...))
			if err := putObject("sealed", "k")(t.Context(), cloud.Config("operator")); err != nil {
				t.Fatal(err)
			}
			signed, err := s3.NewPresignClient(s3.NewFromConfig(cloud.Config(worker))).PresignGetObject(t.Context(),
				&s3.GetObjectInput{Bucket: new("sealed"), Key: new("k")}, s3.WithPresignExpires(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, signed.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := cloud.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			content, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != tt.want || (string(content) == "body") != (tt.want == http.StatusOK) {
				t.Errorf("got %d %q, %v, want %d", answer.StatusCode, content, err, tt.want)
			}
		})
	}
}

func TestPrefixConditionRestrictsListObjects(t *testing.T) {
	t.Parallel()
	own := allow("s3:ListBucket", plainARN)
	own.Condition = map[string]map[string][]string{"StringLike": {"s3:prefix": {"test/*/"}}}
	cloud, authority := start(t, world(own))
	listing := func(prefix *string) step {
		return onObjects((*s3.Client).ListObjectsV2, s3.ListObjectsV2Input{Bucket: new("plain"), Prefix: prefix})
	}
	wantAllowed(t, cloud, listing(new("test/org/")))
	for _, prefix := range []*string{nil, new(""), new("test/org"), new("live/org/")} {
		wantDenied(t, cloud, authority, listing(prefix), "s3:ListBucket", plainARN)
	}
}

func TestMissingObjectReturnsAccessDeniedWithoutListPermission(t *testing.T) {
	t.Parallel()
	head := onObjects((*s3.Client).HeadObject, s3.HeadObjectInput{Bucket: new("plain"), Key: new("none")})
	cloud, authority := start(t, world(allow("s3:GetObject", plainARN+"/*")))
	wantDenied(t, cloud, authority, getObject("plain", "none"), "s3:ListBucket", plainARN)
	wantDenied(t, cloud, authority, head, "s3:ListBucket", plainARN)

	cloud, _ = start(t, world(allow("s3:GetObject", plainARN+"/*"), allow("s3:ListBucket", plainARN)))
	wantCode(t, getObject("plain", "none")(t.Context(), cloud.Config(worker)), "NoSuchKey")
	wantCode(t, head(t.Context(), cloud.Config(worker)), "NotFound")
}

func TestCopyObjectRequiresReadPermissionOnSource(t *testing.T) {
	t.Parallel()
	cloud, authority := start(t, world(allow("s3:PutObject", plainARN+"/*")))
	// S3 accepts a copy source with a leading slash and a version.
	copying := onObjects((*s3.Client).CopyObject,
		s3.CopyObjectInput{Bucket: new("plain"), Key: new("k"), CopySource: new("/sealed/a%20b?versionId=1")})
	wantDenied(t, cloud, authority, copying, "s3:GetObject", sealedARN+"/a b")
}
