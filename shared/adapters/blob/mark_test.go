package blob_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"pgregory.net/rapid"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/blob"
)

// sizes generates write sizes that cross part boundaries at varied offsets within a few writes.
func sizes() *rapid.Generator[int] {
	return rapid.OneOf(
		rapid.IntRange(0, 3000),
		rapid.IntRange(1, 3),
		rapid.IntRange(part-3, part+3),
		rapid.IntRange(part/4, part),
	)
}

func TestRewindDiscardsDataWrittenSinceMark(t *testing.T) {
	t.Parallel()
	w, content := newWorld(t), noise(2*part+5000)
	rapid.Check(t, func(r *rapid.T) {
		out := w.create(t, "key")
		var want [][]byte
		mark, written := 0, 0
		for range rapid.IntRange(0, 8).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"write", "write", "mark", "rewind"}).Draw(r, "step") {
			case "write":
				size := sizes().Draw(r, "size")
				if written+size > len(content) {
					continue
				}
				piece := content[written : written+size] // no two pieces contain the same bytes
				written += size
				if n, err := out.Write(piece); n != size || err != nil {
					r.Fatalf("Write = %d, %v; want %d", n, err, size)
				}
				want = append(want, piece)
			case "mark":
				out.Mark()
				mark = len(want)
			case "rewind":
				if err := out.Rewind(t.Context()); err != nil {
					r.Fatalf("Rewind = %v", err)
				}
				want = want[:mark]
			}
		}
		if err := out.Close(t.Context()); err != nil {
			r.Fatalf("Close = %v", err)
		}
		if err := w.compare(t, "key", want...); err != nil {
			r.Fatal(err)
		}
	})
}

func TestRewindDiscardsIncompleteLineAcrossParts(t *testing.T) {
	t.Parallel()
	content := noise(3*part + 200)
	tests := []struct {
		name  string
		good  int // number of bytes before the incomplete line
		lost  int // bytes of the incomplete line
		calls []string
	}{
		{"within a part", 100, 1000, []string{"PutObject"}},
		{
			"a broken first line, whose upload is given up", 0, 2*part + 1,
			[]string{"CreateMultipartUpload", "UploadPart", "UploadPart", "AbortMultipartUpload", "PutObject"},
		},
		{
			"the rest of a part and one more", part + 100, 2 * part,
			[]string{"CreateMultipartUpload", "UploadPart", "UploadPart", "UploadPart", "UploadPart", "CompleteMultipartUpload"},
		},
		{
			"from the border of a part on", part, part + 1,
			[]string{"CreateMultipartUpload", "UploadPart", "UploadPart", "UploadPart", "CompleteMultipartUpload"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			out := w.create(t, "key")
			write := func(piece []byte) {
				_, err := out.Write(piece)
				expect.NoError(t, err)
			}
			good, lost, next := content[:test.good], content[test.good:test.good+test.lost], content[test.good+test.lost:][:99]
			write(good)
			out.Mark()
			write(lost)
			expect.NoError(t, out.Rewind(t.Context()))
			write(next)
			expect.NoError(t, out.Close(t.Context()))
			if !slices.Equal(w.calls, test.calls) {
				t.Errorf("calls = %v, want %v", w.calls, test.calls)
			}
			if err := w.compare(t, "key", good, next); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRewindFailsAfterWriteFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := &failing{Client: w.client, err: errors.New("connection reset")}
	out, err := blob.Bucket{Client: client, Name: name}.Create(t.Context(), "key", contentType)
	expect.NoError(t, err)
	if _, err := out.Write(noise(part)); !errors.Is(err, client.err) {
		t.Errorf("Write = %v, want the cause", err)
	}
	if err := out.Rewind(t.Context()); !errors.Is(err, client.err) {
		t.Errorf("Rewind = %v, want the cause", err)
	}
}

// BenchmarkMarkedObject writes ten parts and calls Mark after every line. The benchmark should allocate two part-sized
// buffers, regardless of the number of parts.
func BenchmarkMarkedObject(b *testing.B) {
	bucket, line := blob.Bucket{Client: sink{}, Name: name}, noise(3000)
	b.SetBytes(10 * part)
	b.ReportAllocs()
	for b.Loop() {
		out, err := bucket.Create(b.Context(), "key", contentType)
		if err != nil {
			b.Fatal(err)
		}
		for range 10 * part / len(line) {
			out.Mark()
			if _, err := out.Write(line); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// sink is a client that discards all data.
type sink struct{ blob.Client }

func (sink) CreateMultipartUpload(
	context.Context, *s3.CreateMultipartUploadInput, ...func(*s3.Options),
) (*s3.CreateMultipartUploadOutput, error) {
	return &s3.CreateMultipartUploadOutput{UploadId: aws.String("upload")}, nil
}

func (sink) UploadPart(context.Context, *s3.UploadPartInput, ...func(*s3.Options)) (*s3.UploadPartOutput, error) {
	return &s3.UploadPartOutput{}, nil
}
