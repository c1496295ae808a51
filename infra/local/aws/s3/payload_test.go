package s3_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"recordbridge/infra/local/aws/s3"
)

func TestEveryChecksumOfTheSDKIsVerifiedAndReturned(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*awss3.Options){"in a header": func(*awss3.Options) {}, "in a trailer": overTLS} {
		for _, algorithm := range []types.ChecksumAlgorithm{"CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"} {
			t.Run(string(algorithm)+" "+name, func(t *testing.T) {
				t.Parallel()
				client := newBucket(t, change)
				written, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
					Bucket: aws.String(bucketName), Key: aws.String("k"), Body: strings.NewReader("checked"), ChecksumAlgorithm: algorithm,
				})
				if err != nil {
					t.Fatal(err)
				}
				head, err := client.HeadObject(t.Context(), &awss3.HeadObjectInput{
					Bucket: aws.String(bucketName), Key: aws.String("k"), ChecksumMode: types.ChecksumModeEnabled,
				})
				if err != nil {
					t.Fatal(err)
				}
				got := sums(head.ChecksumCRC32, head.ChecksumCRC32C, head.ChecksumCRC64NVME, head.ChecksumSHA1, head.ChecksumSHA256)
				want := sums(written.ChecksumCRC32, written.ChecksumCRC32C, written.ChecksumCRC64NVME, written.ChecksumSHA1, written.ChecksumSHA256)
				if len(want) != 1 || !slices.Equal(got, want) || head.ChecksumType != types.ChecksumTypeFullObject {
					t.Errorf("got %q of type %s, want %q of a full object", got, head.ChecksumType, want)
				}
				if got := string(read(t, client, "k")); got != "checked" {
					t.Errorf("got %q", got)
				}
			})
		}
	}
}

// sums keeps the checksums that there are, each with its place.
func sums(values ...*string) (present []string) {
	for i, value := range values {
		if value != nil {
			present = append(present, fmt.Sprint(i, " ", *value))
		}
	}
	return present
}

func TestAWrongChecksumIsRefusedAndStoresNothing(t *testing.T) {
	t.Parallel()
	const wrong = "AAAAAA=="
	tests := map[string]struct {
		in   awss3.PutObjectInput
		want string
	}{
		"crc32":              {awss3.PutObjectInput{ChecksumCRC32: aws.String(wrong)}, "BadDigest"},
		"crc32 of bad form":  {awss3.PutObjectInput{ChecksumCRC32: aws.String("?")}, "InvalidRequest"},
		"sha256":             {awss3.PutObjectInput{ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(make([]byte, 32)))}, "BadDigest"},
		"md5":                {awss3.PutObjectInput{ContentMD5: aws.String(base64.StdEncoding.EncodeToString(make([]byte, 16)))}, "BadDigest"},
		"md5 of bad form":    {awss3.PutObjectInput{ContentMD5: aws.String("short")}, "InvalidDigest"},
		"unknown encryption": {awss3.PutObjectInput{SSEKMSKeyId: aws.String("alias/x")}, "InvalidArgument"},
		"tags":               {awss3.PutObjectInput{Tagging: aws.String("a=b")}, "NotImplemented"},
		"too much metadata":  {awss3.PutObjectInput{Metadata: map[string]string{"a": strings.Repeat("x", 2048)}}, "MetadataTooLarge"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newBucket(t)
			tt.in.Bucket, tt.in.Key, tt.in.Body = aws.String(bucketName), aws.String("k"), strings.NewReader("body")
			_, err := client.PutObject(t.Context(), &tt.in)
			wantCode(t, err, tt.want)
			_, err = client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k")})
			if _, missing := errors.AsType[*types.NotFound](err); !missing {
				t.Errorf("got %v, want no object", err)
			}
		})
	}
}

func TestMalformedBodiesAreRefusedWithACode(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("other"))
	const trailer = "x-amz-checksum-crc32:AAAAAA==\r\n\r\n"
	chunked := func(extra ...string) map[string]string {
		h := map[string]string{
			"X-Amz-Content-Sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "X-Amz-Decoded-Content-Length": "4",
			"X-Amz-Trailer": "x-amz-checksum-crc32", "Content-Encoding": "aws-chunked",
		}
		for i := 0; i < len(extra); i += 2 {
			h[extra[i]] = extra[i+1]
		}
		return h
	}
	tests := map[string]struct {
		body   string
		header map[string]string
		code   string
	}{
		"other content":             {"body", map[string]string{"X-Amz-Content-Sha256": hex.EncodeToString(sum[:])}, "XAmzContentSHA256Mismatch"},
		"hash of bad form":          {"body", map[string]string{"X-Amz-Content-Sha256": "abc"}, "InvalidArgument"},
		"signed chunks":             {"body", map[string]string{"X-Amz-Content-Sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}, "NotImplemented"},
		"two checksums":             {"body", map[string]string{"X-Amz-Checksum-Crc32": "AAAAAA==", "X-Amz-Checksum-Crc32c": "AAAAAA=="}, "InvalidRequest"},
		"trailer mismatch":          {"4\r\nbody\r\n0\r\n" + trailer, chunked(), "BadDigest"},
		"trailer missing":           {"4\r\nbody\r\n0\r\n\r\n", chunked(), "MalformedTrailerError"},
		"trailer cut off":           {"4\r\nbody\r\n0\r\nx-amz", chunked(), "IncompleteBody"},
		"trailer without a colon":   {"4\r\nbody\r\n0\r\nx\r\n\r\n", chunked(), "IncompleteBody"},
		"unknown trailer":           {"4\r\nbody\r\n0\r\n\r\n", chunked("X-Amz-Trailer", "x-amz-checksum-rot13"), "InvalidRequest"},
		"no decoded length":         {"4\r\nbody\r\n0\r\n" + trailer, chunked("X-Amz-Decoded-Content-Length", ""), "MissingContentLength"},
		"longer than declared":      {"5\r\nbodyy\r\n0\r\n" + trailer, chunked(), "IncompleteBody"},
		"shorter than declared":     {"3\r\nbod\r\n0\r\n" + trailer, chunked(), "IncompleteBody"},
		"chunk size is no number":   {"x\r\nbody\r\n0\r\n" + trailer, chunked(), "IncompleteBody"},
		"negative chunk size":       {"-4\r\nbody\r\n0\r\n" + trailer, chunked(), "IncompleteBody"},
		"huge chunk size":           {"ffffffffffffffff\r\nbody", chunked(), "IncompleteBody"},
		"chunk not closed":          {"4\r\nbodyXX0\r\n" + trailer, chunked(), "IncompleteBody"},
		"chunk cut off":             {"4\r\nbo", chunked(), "IncompleteBody"},
		"endless size line":         {strings.Repeat("0", 5000), chunked(), "IncompleteBody"},
		"empty":                     {"", chunked(), "IncompleteBody"},
		"larger than one put may":   {"", chunked("X-Amz-Decoded-Content-Length", "5368709121"), "EntityTooLarge"},
		"metadata that is no UTF-8": {"body", map[string]string{"X-Amz-Meta-A": "\xff"}, "InvalidArgument"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, s3.Options{})
			createBucket(t, connect(server))
			status, answer := raw{http.MethodPut, "/exports/k", tt.body, tt.header}.send(t, inProcess{server})
			if !strings.Contains(answer, "<Code>"+tt.code+"</Code>") || status < 400 {
				t.Errorf("got %d %s, want %s", status, answer, tt.code)
			}
		})
	}
}
