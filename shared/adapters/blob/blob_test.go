package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/storetest"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

const (
	name        = "exports"
	contentType = "application/fhir+ndjson"
	part        = 8 << 20 // size of an upload part
)

// world is a bucket that records calls to it.
type world struct {
	cloud  *aws.Cloud
	client *s3.Client
	bucket blob.Bucket

	mu    sync.Mutex
	calls []string
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{}
	var err error
	w.cloud, err = aws.New(aws.Options{Middleware: []wire.Middleware{func(next wire.Handler) wire.Handler {
		return func(out http.ResponseWriter, r *http.Request, c wire.Call) {
			w.mu.Lock()
			w.calls = append(w.calls, c.Operation)
			w.mu.Unlock()
			next(out, r, c)
		}
	}}})
	expect.NoError(tb, err)
	w.client = s3.NewFromConfig(w.cloud.Config("test"))
	_, err = w.client.CreateBucket(tb.Context(), &s3.CreateBucketInput{Bucket: awssdk.String(name)})
	expect.NoError(tb, err)
	w.bucket = blob.Bucket{Client: w.client, Name: name}
	w.calls = nil
	return w
}

func TestBucketPassesFileStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.Files(t, func(tb testing.TB) export.Files {
		tb.Helper()
		return newWorld(tb).bucket
	})
}

func (w *world) create(t *testing.T, key string) export.Writer {
	t.Helper()
	out, err := w.bucket.Create(t.Context(), key, contentType)
	expect.NoError(t, err)
	return out
}

// compare checks that an object equals the concatenation of pieces, without loading the object into memory.
func (w *world) compare(t *testing.T, key string, pieces ...[]byte) error {
	t.Helper()
	body, err := w.bucket.Open(t.Context(), key)
	expect.NoError(t, err)
	defer body.Close()
	rest := comparison{slices.Clone(pieces)}
	if _, err := io.Copy(&rest, body); err != nil {
		return fmt.Errorf("other bytes came back: %w", err)
	}
	if missing := slices.Concat(rest.pieces...); len(missing) > 0 {
		return fmt.Errorf("%d bytes are missing", len(missing))
	}
	return nil
}

// comparison is a writer that fails if the bytes written to it differ from pieces.
type comparison struct{ pieces [][]byte }

// Write implements io.Writer.
func (c *comparison) Write(p []byte) (int, error) {
	left := p
	for len(left) > 0 {
		if len(c.pieces) == 0 {
			return 0, errors.New("more than is expected")
		}
		n := min(len(left), len(c.pieces[0]))
		if !bytes.Equal(left[:n], c.pieces[0][:n]) {
			return 0, errors.New("not what is expected")
		}
		if left, c.pieces[0] = left[n:], c.pieces[0][n:]; len(c.pieces[0]) == 0 {
			c.pieces = c.pieces[1:]
		}
	}
	return len(p), nil
}

// noise returns n random bytes so that tests can detect a shifted or repeated part. All callers of noise share the
// slice and must not modify it.
func noise(n int) []byte { return allNoise()[:n:n] }

// allNoise returns enough random bytes for the largest test.
var allNoise = sync.OnceValue(func() []byte {
	out := make([]byte, 0, 6*least+sha256.Size)
	for sum := sha256.Sum256(nil); len(out) < 6*least; sum = sha256.Sum256(sum[:]) {
		out = append(out, sum[:]...)
	}
	return out
})

func TestBucketReturnsObjectUnchanged(t *testing.T) {
	t.Parallel()
	put := []string{"PutObject"}
	parts := func(n int) []string {
		return slices.Concat([]string{"CreateMultipartUpload"}, slices.Repeat([]string{"UploadPart"}, n),
			[]string{"CompleteMultipartUpload"})
	}
	tests := []struct {
		name  string
		size  int
		chunk int // bytes per Write call
		calls []string
	}{
		{"an empty object", 0, 1, put},
		{"a small object", 1000, 7, put},
		{"a byte less than a part", part - 1, 1 << 20, put},
		{"exactly a part", part, part, parts(1)},
		{"a byte more than a part", part + 1, 3 << 20, parts(2)},
		{"20 MB in odd pieces", 20_000_001, 777_777, parts(3)},
		{"20 MB at once", 20_000_001, 20_000_001, parts(3)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			want := noise(test.size)
			out := w.create(t, "test/a/file.ndjson")
			for piece := range slices.Chunk(want, test.chunk) {
				if n, err := out.Write(piece); err != nil || n != len(piece) {
					t.Fatalf("Write = %d, %v; want %d", n, err, len(piece))
				}
			}
			_, err := w.bucket.Open(t.Context(), "test/a/file.ndjson")
			if !errors.Is(err, fault.NotFound) {
				t.Errorf("before Close: %v, want fault.NotFound", err)
			}
			expect.NoError(t, out.Close(t.Context()))
			got := slices.DeleteFunc(slices.Clone(w.calls), func(call string) bool { return call == "GetObject" })
			if !slices.Equal(got, test.calls) {
				t.Errorf("calls = %v, want %v", got, test.calls)
			}
			expect.NoError(t, w.compare(t, "test/a/file.ndjson", want))
			head, err := w.client.HeadObject(t.Context(), &s3.HeadObjectInput{
				Bucket: awssdk.String(name), Key: awssdk.String("test/a/file.ndjson"),
			})
			expect.NoError(t, err)
			if awssdk.ToString(head.ContentType) != contentType {
				t.Errorf("content type = %q", awssdk.ToString(head.ContentType))
			}
		})
	}
}

func TestWriterAbortDiscardsObject(t *testing.T) {
	t.Parallel()
	for size, wantAborts := range map[int]int{0: 0, 100: 0, 17 << 20: 1} {
		w := newWorld(t)
		out := w.create(t, "key")
		_, err := out.Write(noise(size))
		expect.NoError(t, err)
		out.Abort(t.Context())
		_, writeErr := out.Write([]byte("more"))
		closeErr := out.Close(t.Context())
		_, openErr := w.bucket.Open(t.Context(), "key")
		if writeErr == nil || closeErr == nil || !errors.Is(openErr, fault.NotFound) {
			t.Errorf("%d bytes: Write, Close and Open = %v, %v, %v; want errors and fault.NotFound", size, writeErr,
				closeErr, openErr)
		}
		aborts := 0
		for _, call := range w.calls {
			if call == "AbortMultipartUpload" {
				aborts++
			}
		}
		if aborts != wantAborts {
			t.Errorf("%d bytes: %d uploads aborted, want %d", size, aborts, wantAborts)
		}
	}
}

// failing is a client whose nth UploadPart call fails.
type failing struct {
	*s3.Client

	err   error
	after int
	abort int
}

func (f *failing) UploadPart(ctx context.Context, in *s3.UploadPartInput,
	o ...func(*s3.Options),
) (*s3.UploadPartOutput, error) {
	if f.after--; f.after < 0 {
		return nil, f.err
	}
	return f.Client.UploadPart(ctx, in, o...)
}

func (f *failing) AbortMultipartUpload(
	ctx context.Context, in *s3.AbortMultipartUploadInput, o ...func(*s3.Options),
) (*s3.AbortMultipartUploadOutput, error) {
	f.abort++
	return f.Client.AbortMultipartUpload(ctx, in, o...)
}

func TestWriterDiscardsObjectAfterFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := &failing{Client: w.client, err: errors.New("connection reset"), after: 1}
	out, err := blob.Bucket{Client: client, Name: name}.Create(t.Context(), "key", contentType)
	expect.NoError(t, err)
	if _, err := out.Write(noise(20 << 20)); !errors.Is(err, client.err) {
		t.Errorf("Write = %v, want the cause", err)
	}
	if _, err := out.Write([]byte("more")); !errors.Is(err, client.err) {
		t.Errorf("next Write = %v, want the cause", err)
	}
	if err := out.Close(t.Context()); !errors.Is(err, client.err) {
		t.Errorf("Close = %v, want the cause", err)
	}
	out.Abort(t.Context())
	if client.abort != 1 {
		t.Errorf("aborted %d times, want once", client.abort)
	}
	if _, err := w.bucket.Open(t.Context(), "key"); !errors.Is(err, fault.NotFound) {
		t.Errorf("Open = %v, want fault.NotFound", err)
	}
}

func TestBucketDeleteRemovesObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	expect.NoError(t, w.bucket.Delete(t.Context(), "never written"))
	expect.NoError(t, w.create(t, "key").Close(t.Context()))
	expect.NoError(t, w.bucket.Delete(t.Context(), "key"))
	if _, err := w.bucket.Open(t.Context(), "key"); !errors.Is(err, fault.NotFound) {
		t.Errorf("Open = %v, want fault.NotFound", err)
	}
	missing := blob.Bucket{Client: w.client, Name: "no-such-bucket"}
	if _, err := missing.Open(t.Context(), "key"); err == nil || errors.Is(err, fault.NotFound) {
		t.Errorf("a bucket that does not exist: %v, want an error of ours", err)
	}
}

func TestDownloadURLIsValidUntilExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		out := w.create(t, "test/a/file.ndjson")
		_, err := out.Write([]byte(`{"resourceType":"Patient"}`))
		expect.NoError(t, err)
		expect.NoError(t, out.Close(t.Context()))
		downloads := blob.Downloads{Presigner: s3.NewPresignClient(w.client), Name: name}
		address, err := downloads.Address(t.Context(), http.MethodGet, "test/a/file.ndjson", "export.ndjson", contentType,
			10*time.Minute)
		expect.NoError(t, err)

		status, header, body := w.download(t, http.MethodGet, address)
		if status != http.StatusOK || body != `{"resourceType":"Patient"}` {
			t.Errorf("download = %d %s", status, body)
		}
		for field, want := range map[string]string{
			"Content-Type": contentType, "Cache-Control": "no-store",
			"Content-Disposition": `attachment; filename="export.ndjson"`,
		} {
			if got := header.Get(field); got != want {
				t.Errorf("%s = %q, want %q", field, got, want)
			}
		}
		other, err := url.Parse(address)
		expect.NoError(t, err)
		other.Path = strings.Replace(other.Path, "/a/", "/b/", 1)
		if got, _, _ := w.download(t, http.MethodGet, other.String()); got != http.StatusForbidden {
			t.Errorf("the address of another object = %d, want 403", got)
		}
		<-time.After(10*time.Minute - time.Second)
		if got, _, _ := w.download(t, http.MethodGet, address); got != http.StatusOK {
			t.Errorf("just before its end = %d, want 200", got)
		}
		<-time.After(2 * time.Second)
		if got, _, _ := w.download(t, http.MethodGet, address); got != http.StatusForbidden {
			t.Errorf("after its end = %d, want 403", got)
		}
	})
}

func TestDownloadURLIsLimitedToSignedMethod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.create(t, "key")
	_, err := out.Write([]byte("text"))
	expect.NoError(t, err)
	expect.NoError(t, out.Close(t.Context()))
	downloads := blob.Downloads{Presigner: s3.NewPresignClient(w.client), Name: name}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		address, err := downloads.Address(t.Context(), method, "key", "export.ndjson", contentType, time.Minute)
		expect.NoError(t, err)
		for _, used := range []string{http.MethodGet, http.MethodHead} {
			want := http.StatusForbidden
			if used == method {
				want = http.StatusOK
			}
			status, header, _ := w.download(t, used, address)
			if status != want || status == http.StatusOK &&
				(header.Get("Content-Type") != contentType || header.Get("Content-Length") != "4") {
				t.Errorf("%s of an address for %s: %d %v, want %d", used, method, status, header, want)
			}
		}
	}
}

func (w *world) download(t *testing.T, method, address string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	expect.NoError(t, err)
	response, err := w.cloud.Do(request)
	expect.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	expect.NoError(t, err)
	return response.StatusCode, response.Header, string(body)
}
