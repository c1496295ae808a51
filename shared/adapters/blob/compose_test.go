package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"pgregory.net/rapid"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/words/fault"
)

const least = 5 << 20 // minimum size of every upload part except the last

// put stores content as a sequence of objects of the given sizes and returns their keys.
func (w *world) put(t *testing.T, content []byte, sizes ...int) []string {
	t.Helper()
	keys := make([]string, 0, len(sizes))
	for i, size := range sizes {
		key := fmt.Sprintf("test/segment +%%ä/%d", i) // contains characters that must be escaped in a copy source
		_, err := w.client.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String(name), Key: &key, Body: bytes.NewReader(content[:size]),
		})
		expect.NoError(t, err)
		keys, content = append(keys, key), content[size:]
	}
	w.calls = nil
	return keys
}

func TestComposeConcatenatesPartsInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sizes := []int{0, 1, 1000, least / 2, least - 1, least, least + 1, 2*least - 1}
	total := 0
	for _, size := range sizes {
		total += size
	}
	content := noise(total)
	keys := w.put(t, content, sizes...)
	piece := map[string][]byte{}
	for i, key := range keys {
		piece[key], content = content[:sizes[i]], content[sizes[i]:]
	}
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(keys), 0, 3).Draw(r, "parts")
		if err := w.bucket.Compose(t.Context(), "file", contentType, parts); err != nil {
			r.Fatalf("Compose = %v", err)
		}
		want := make([][]byte, len(parts))
		for i, key := range parts {
			want[i] = piece[key]
		}
		if err := w.compare(t, "file", want...); err != nil {
			r.Fatal(err)
		}
	})
}

func TestComposeCopiesLargePartsWithoutDownload(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		sizes []int
		want  string // expected calls, abbreviated
	}{
		{"nothing", nil, "put"},
		{"one small object", []int{10}, "head get put"},
		{"small objects", []int{10, 0, 20}, "head get head head get put"},
		{"one large object", []int{least}, "head create copy complete"},
		{"large objects", []int{least + 1, least, 2 * least}, "head create copy head copy head copy complete"},
		{"a small end", []int{least, 10}, "head create copy head get upload complete"},
		{"a small beginning", []int{10, 2 * least}, "head get head get create upload copy complete"},
		{"a part of small ones", []int{least - 1, 1, least}, "head get head get head create upload copy complete"},
		{"a rest too small to be copied", []int{10, 2*least - 11}, "head get head get create upload upload complete"},
	}
	short := map[string]string{
		"PutObject": "put", "HeadObject": "head", "GetObject": "get", "CreateMultipartUpload": "create",
		"UploadPart":     "upload",
		"UploadPartCopy": "copy", "CompleteMultipartUpload": "complete",
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			expect.NoError(t, w.bucket.Compose(t.Context(), "file", contentType, w.put(t, noise(6*least), test.sizes...)))
			calls := make([]string, 0, len(w.calls))
			for _, call := range w.calls {
				calls = append(calls, short[call])
			}
			if got := strings.Join(calls, " "); got != test.want {
				t.Errorf("calls = %s, want %s", got, test.want)
			}
			head, err := w.client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(name), Key: aws.String("file")})
			expect.NoError(t, err)
			if got := aws.ToString(head.ContentType); got != contentType {
				t.Errorf("content type = %q", got)
			}
		})
	}
}

func TestComposeAbortsUploadAfterFailure(t *testing.T) {
	t.Parallel()
	trouble := errors.New("connection reset")
	tests := []struct {
		name   string
		refuse string // operation that fails
		parts  func(keys []string) []string
		want   error
	}{
		{"a part that is not there", "", func(keys []string) []string { return append(keys, "missing") }, fault.NotFound},
		{"a copy that fails", "UploadPartCopy", slices.Clone[[]string], trouble},
		{"a read that fails", "GetObject", slices.Clone[[]string], trouble},
		{"an object that cannot be completed", "CompleteMultipartUpload", slices.Clone[[]string], trouble},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			keys := w.put(t, noise(4*least), least, 10, 2*least)
			bucket := blob.Bucket{Client: &refusing{Client: w.client, operation: test.refuse, err: trouble}, Name: name}
			if err := bucket.Compose(t.Context(), "file", contentType, test.parts(keys)); !errors.Is(err, test.want) {
				t.Errorf("Compose = %v, want %v", err, test.want)
			}
			if _, err := w.bucket.Open(t.Context(), "file"); !errors.Is(err, fault.NotFound) {
				t.Errorf("Open = %v, want fault.NotFound", err)
			}
			began, gaveUp := slices.Index(w.calls, "CreateMultipartUpload"), slices.Index(w.calls, "AbortMultipartUpload")
			if began < 0 || gaveUp < began {
				t.Errorf("calls = %v, want an upload that is begun and given up", w.calls)
			}
		})
	}
}

func TestComposeRejectsSourceChangedDuringCopy(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, least} {
		w := newWorld(t)
		keys := w.put(t, noise(size), size)
		client := &refusing{Client: w.client, measured: func() { w.put(t, noise(2 * size)[size:], size) }}
		if err := (blob.Bucket{Client: client, Name: name}).Compose(t.Context(), "file", contentType, keys); err == nil {
			t.Errorf("%d bytes: no error", size)
		}
	}
}

// refusing is a client whose calls to one operation fail.
type refusing struct {
	*s3.Client

	operation string
	err       error
	measured  func() // if not nil, called after every HeadObject
}

func (c *refusing) HeadObject(ctx context.Context, in *s3.HeadObjectInput,
	o ...func(*s3.Options),
) (*s3.HeadObjectOutput, error) {
	out, err := c.Client.HeadObject(ctx, in, o...)
	if c.measured != nil {
		c.measured()
	}
	return out, err
}

func (c *refusing) GetObject(ctx context.Context, in *s3.GetObjectInput,
	o ...func(*s3.Options),
) (*s3.GetObjectOutput, error) {
	if err := c.refuse("GetObject"); err != nil {
		return nil, err
	}
	return c.Client.GetObject(ctx, in, o...)
}

func (c *refusing) UploadPartCopy(
	ctx context.Context, in *s3.UploadPartCopyInput, o ...func(*s3.Options),
) (*s3.UploadPartCopyOutput, error) {
	if err := c.refuse("UploadPartCopy"); err != nil {
		return nil, err
	}
	return c.Client.UploadPartCopy(ctx, in, o...)
}

func (c *refusing) CompleteMultipartUpload(
	ctx context.Context, in *s3.CompleteMultipartUploadInput, o ...func(*s3.Options),
) (*s3.CompleteMultipartUploadOutput, error) {
	if err := c.refuse("CompleteMultipartUpload"); err != nil {
		return nil, err
	}
	return c.Client.CompleteMultipartUpload(ctx, in, o...)
}

func (c *refusing) refuse(operation string) error {
	if operation == c.operation {
		return c.err
	}
	return nil
}

func TestComposeCopiesLargeObjectInEqualRanges(t *testing.T) {
	t.Parallel()
	client := &vast{}
	expect.NoError(t, (blob.Bucket{Client: client, Name: name}).Compose(t.Context(), "file", contentType,
		[]string{"2 GiB and a byte", "a byte"}))
	want := []string{"bytes=0-715827882", "bytes=715827883-1431655765", "bytes=1431655766-2147483648"}
	if !slices.Equal(client.ranges, want) {
		t.Errorf("ranges = %v, want %v", client.ranges, want)
	}
	if client.listed != 4 {
		t.Errorf("%d parts listed, want 4", client.listed)
	}
}

// vast is a client that reports an object larger than maxCopy.
type vast struct {
	sink

	ranges []string
	listed int
}

func (*vast) HeadObject(_ context.Context, in *s3.HeadObjectInput,
	_ ...func(*s3.Options),
) (*s3.HeadObjectOutput, error) {
	size := map[string]int64{"2 GiB and a byte": 2<<30 + 1, "a byte": 1}[*in.Key]
	return &s3.HeadObjectOutput{ContentLength: &size}, nil
}

func (*vast) GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return &s3.GetObjectOutput{Body: io.NopCloser(strings.NewReader("x"))}, nil
}

func (v *vast) UploadPartCopy(
	_ context.Context, in *s3.UploadPartCopyInput, _ ...func(*s3.Options),
) (*s3.UploadPartCopyOutput, error) {
	v.ranges = append(v.ranges, aws.ToString(in.CopySourceRange))
	return &s3.UploadPartCopyOutput{CopyPartResult: &types.CopyPartResult{}}, nil
}

func (v *vast) CompleteMultipartUpload(
	_ context.Context, in *s3.CompleteMultipartUploadInput, _ ...func(*s3.Options),
) (*s3.CompleteMultipartUploadOutput, error) {
	v.listed = len(in.MultipartUpload.Parts)
	return &s3.CompleteMultipartUploadOutput{}, nil
}
