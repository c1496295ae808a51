package s3_test

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/s3"
)

const mib = 1 << 20

// upload is one multipart upload of the key "k" as the blob adapter does it.
type upload struct {
	client *awss3.Client
	id     *string
}

func begin(t *testing.T, client *awss3.Client, change ...func(*awss3.CreateMultipartUploadInput)) upload {
	t.Helper()
	in := &awss3.CreateMultipartUploadInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"),
		ContentType: aws.String("application/fhir+ndjson"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	}
	for _, f := range change {
		f(in)
	}
	out, err := client.CreateMultipartUpload(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return upload{client, out.UploadId}
}

func (u upload) part(t *testing.T, number int32, body []byte) types.CompletedPart {
	t.Helper()
	out, err := u.client.UploadPart(t.Context(), &awss3.UploadPartInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, PartNumber: aws.Int32(number), Body: bytes.NewReader(body),
	})
	if err != nil {
		t.Fatalf("part %d: %v", number, err)
	}
	return types.CompletedPart{
		PartNumber: aws.Int32(number), ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32, ChecksumCRC64NVME: out.ChecksumCRC64NVME, ChecksumSHA256: out.ChecksumSHA256,
	}
}

func (u upload) complete(t *testing.T, parts ...types.CompletedPart) (*awss3.CompleteMultipartUploadOutput, error) {
	t.Helper()
	return u.client.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
}

func TestPartsBecomeOneObject(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"memory", "folder"} {
		for transport, change := range map[string]func(*awss3.Options){"plain": func(*awss3.Options) {}, "TLS": overTLS} {
			t.Run(name+" over "+transport, func(t *testing.T) {
				t.Parallel()
				dir := ""
				if name == "folder" {
					dir = t.TempDir()
				}
				client := connect(newServer(t, s3.Options{Dir: dir}), change)
				createBucket(t, client)
				bodies := [][]byte{filler('a', 5*mib), filler('b', 6*mib), filler('c', mib)}
				u := begin(t, client)
				u.part(t, 1, []byte("replaced"))
				third, first, second := u.part(t, 3, bodies[2]), u.part(t, 1, bodies[0]), u.part(t, 2, bodies[1])
				out, err := u.complete(t, first, second, third)
				if err != nil {
					t.Fatal(err)
				}
				tags := md5.New()
				for _, body := range bodies {
					sum := md5.Sum(body)
					tags.Write(sum[:])
				}
				if got, want := aws.ToString(out.ETag), `"`+hex.EncodeToString(tags.Sum(nil))+`-3"`; got != want {
					t.Errorf("got ETag %s, want %s", got, want)
				}
				if got := aws.ToString(out.ChecksumCRC32); !strings.HasSuffix(got, "-3") || out.ChecksumType != types.ChecksumTypeComposite {
					t.Errorf("got checksum %q of type %q, want a composite of 3 parts", got, out.ChecksumType)
				}
				head, err := client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k")})
				if err != nil || aws.ToString(head.ContentType) != "application/fhir+ndjson" || aws.ToInt64(head.ContentLength) != 12*mib {
					t.Errorf("got %+v, %v, want the type of the upload and 12 MiB", head, err)
				}
				if !bytes.Equal(read(t, client, "k"), bytes.Join(bodies, nil)) {
					t.Error("the body is not the parts after one another")
				}
				again, err := u.complete(t, first, second, third)
				if err != nil || aws.ToString(again.ETag) != aws.ToString(out.ETag) {
					t.Errorf("completed again: %+v, %v; want the first answer", again, err)
				}
				_, err = u.complete(t, first, second)
				wantCode(t, err, "NoSuchUpload")
				put(t, client, "k", "replaced")
				_, err = u.complete(t, first, second, third)
				wantCode(t, err, "NoSuchUpload")
			})
		}
	}
}

func TestTheChecksumOfAnUploadFollowsItsType(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		algorithm types.ChecksumAlgorithm
		kind      types.ChecksumType
		want      types.ChecksumType // "" when the creation is refused
	}{
		"sha256 by default":    {"SHA256", "", "COMPOSITE"},
		"crc32 as a whole":     {"CRC32", "FULL_OBJECT", "FULL_OBJECT"},
		"crc64 by default":     {"CRC64NVME", "", "FULL_OBJECT"},
		"sha256 as a whole":    {"SHA256", "FULL_OBJECT", ""},
		"crc64 as a composite": {"CRC64NVME", "COMPOSITE", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newBucket(t)
			create, err := client.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{
				Bucket: aws.String(bucketName), Key: aws.String("k"), ChecksumAlgorithm: tt.algorithm, ChecksumType: tt.kind,
			})
			if tt.want == "" {
				wantCode(t, err, "InvalidRequest")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			u := upload{client, create.UploadId}
			part, err := client.UploadPart(t.Context(), &awss3.UploadPartInput{
				Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, PartNumber: aws.Int32(1),
				Body: strings.NewReader("whole"), ChecksumAlgorithm: tt.algorithm,
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := u.complete(t, types.CompletedPart{PartNumber: aws.Int32(1), ETag: part.ETag, ChecksumSHA256: part.ChecksumSHA256})
			if err != nil || out.ChecksumType != tt.want {
				t.Fatalf("got %+v, %v, want type %s", out, err, tt.want)
			}
			whole := aws.ToString(out.ChecksumCRC32) + aws.ToString(out.ChecksumCRC64NVME)
			ofPart := aws.ToString(part.ChecksumCRC32) + aws.ToString(part.ChecksumCRC64NVME)
			if tt.want == types.ChecksumTypeFullObject && (whole == "" || whole != ofPart) {
				t.Errorf("got %q, want the checksum %q of the only part", whole, ofPart)
			}
			if got := string(read(t, client, "k")); got != "whole" { // the SDK verifies a whole object's checksum
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestCompletingRefusesWhatS3Refuses(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	u := begin(t, client)
	big, small, last := u.part(t, 1, filler('a', 5*mib)), u.part(t, 2, []byte("small")), u.part(t, 3, []byte("last"))
	other := func(p types.CompletedPart, change func(*types.CompletedPart)) types.CompletedPart {
		change(&p)
		return p
	}
	tests := map[string]struct {
		parts []types.CompletedPart
		code  string
	}{
		"a small part before the last": {[]types.CompletedPart{big, small, last}, "EntityTooSmall"},
		"descending order":             {[]types.CompletedPart{last, big}, "InvalidPartOrder"},
		"the same part twice":          {[]types.CompletedPart{big, big}, "InvalidPartOrder"},
		"a part never uploaded":        {[]types.CompletedPart{big, other(last, func(p *types.CompletedPart) { p.PartNumber = aws.Int32(9) })}, "InvalidPart"},
		"another ETag":                 {[]types.CompletedPart{other(big, func(p *types.CompletedPart) { p.ETag = last.ETag })}, "InvalidPart"},
		"another checksum":             {[]types.CompletedPart{other(big, func(p *types.CompletedPart) { p.ChecksumCRC32 = last.ChecksumCRC32 })}, "InvalidPart"},
		"no checksum":                  {[]types.CompletedPart{other(big, func(p *types.CompletedPart) { p.ChecksumCRC32 = nil })}, "InvalidRequest"},
		"no parts":                     {nil, "MalformedXML"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := u.complete(t, tt.parts...)
			wantCode(t, err, tt.code)
		})
	}
}

func TestACompletionHoldsTheObjectAgainstItsClaims(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	tests := []struct {
		name   string
		change func(*awss3.CompleteMultipartUploadInput)
		code   string
	}{
		{"another size", func(in *awss3.CompleteMultipartUploadInput) { in.MpuObjectSize = aws.Int64(4) }, "InvalidRequest"},
		{"another checksum", func(in *awss3.CompleteMultipartUploadInput) { in.ChecksumCRC32 = aws.String("AAAAAA==") }, "BadDigest"},
		{"right size, no object yet", func(in *awss3.CompleteMultipartUploadInput) {
			in.MpuObjectSize, in.IfNoneMatch = aws.Int64(3), aws.String("*")
		}, ""},
		{"an object there", func(in *awss3.CompleteMultipartUploadInput) { in.IfNoneMatch = aws.String("*") }, "PreconditionFailed"},
		{"another object there", func(in *awss3.CompleteMultipartUploadInput) { in.IfMatch = aws.String(`"0"`) }, "PreconditionFailed"},
	}
	for _, tt := range tests {
		u := begin(t, client)
		in := &awss3.CompleteMultipartUploadInput{
			Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{u.part(t, 1, []byte("abc"))}},
		}
		tt.change(in)
		_, err := client.CompleteMultipartUpload(t.Context(), in)
		if tt.code != "" {
			wantCode(t, err, tt.code)
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestPartsAreListedPageByPageWithTheirChecksums(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	u := begin(t, client)
	numbers := []int32{1, 2, 3, 7, 10_000}
	want := make([]types.CompletedPart, 0, len(numbers))
	for _, number := range numbers {
		part := u.part(t, number, []byte(fmt.Sprint("part ", number)))
		want = append(want, types.CompletedPart{PartNumber: part.PartNumber, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32})
	}
	var got []types.CompletedPart
	pages := awss3.NewListPartsPaginator(client, &awss3.ListPartsInput{Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, MaxParts: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Parts) > 2 || page.ChecksumAlgorithm != types.ChecksumAlgorithmCrc32 || page.ChecksumType != types.ChecksumTypeComposite {
			t.Errorf("got %d parts, checksum %s %s", len(page.Parts), page.ChecksumAlgorithm, page.ChecksumType)
		}
		for _, p := range page.Parts {
			got = append(got, types.CompletedPart{PartNumber: p.PartNumber, ETag: p.ETag, ChecksumCRC32: p.ChecksumCRC32})
		}
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b types.CompletedPart) bool {
		return *a.PartNumber == *b.PartNumber && *a.ETag == *b.ETag && aws.ToString(a.ChecksumCRC32) == aws.ToString(b.ChecksumCRC32)
	})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnAbortedUploadIsGone(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	u := begin(t, client)
	part := u.part(t, 1, []byte("x"))
	abort := &awss3.AbortMultipartUploadInput{Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id}
	wrongKey := &awss3.AbortMultipartUploadInput{Bucket: aws.String(bucketName), Key: aws.String("other"), UploadId: u.id}
	_, err := client.AbortMultipartUpload(t.Context(), wrongKey)
	wantCode(t, err, "NoSuchUpload")
	if _, err = client.AbortMultipartUpload(t.Context(), abort); err != nil {
		t.Fatal(err)
	}
	_, err = client.AbortMultipartUpload(t.Context(), abort)
	wantCode(t, err, "NoSuchUpload")
	_, err = u.complete(t, part)
	wantCode(t, err, "NoSuchUpload")
	_, err = client.ListParts(t.Context(), &awss3.ListPartsInput{Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id})
	wantCode(t, err, "NoSuchUpload")
	_, err = client.UploadPart(t.Context(), &awss3.UploadPartInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, PartNumber: aws.Int32(1), Body: strings.NewReader("x"),
	})
	wantCode(t, err, "NoSuchUpload")
}

func TestAPartMustCarryTheChecksumOfItsUpload(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	u := begin(t, client)
	in := func(change func(*awss3.UploadPartInput)) *awss3.UploadPartInput {
		in := &awss3.UploadPartInput{Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, PartNumber: aws.Int32(1), Body: strings.NewReader("x")}
		change(in)
		return in
	}
	_, err := client.UploadPart(t.Context(), in(func(in *awss3.UploadPartInput) { in.ChecksumAlgorithm = types.ChecksumAlgorithmSha256 }))
	wantCode(t, err, "InvalidRequest")
	_, err = client.UploadPart(t.Context(), in(func(*awss3.UploadPartInput) {}), func(o *awss3.Options) {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})
	wantCode(t, err, "InvalidRequest")
	_, err = client.UploadPart(t.Context(), in(func(in *awss3.UploadPartInput) { in.ChecksumCRC32 = aws.String("AAAAAA==") }))
	wantCode(t, err, "BadDigest")
}

func TestAnUploadWithoutAnAlgorithmTakesTheCRCsOfTheSDK(t *testing.T) {
	t.Parallel()
	client := newBucket(t)
	u := begin(t, client, func(in *awss3.CreateMultipartUploadInput) { in.ChecksumAlgorithm = "" })
	first := u.part(t, 1, filler('a', 5*mib)) // the SDK adds a CRC32 by itself
	_, err := client.UploadPart(t.Context(), &awss3.UploadPartInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), UploadId: u.id, PartNumber: aws.Int32(2),
		Body: strings.NewReader("x"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
	})
	wantCode(t, err, "InvalidRequest")
	out, err := u.complete(t, first, u.part(t, 2, []byte("end")))
	if err != nil || out.ChecksumType != types.ChecksumTypeFullObject || out.ChecksumCRC64NVME == nil || out.ChecksumCRC32 != nil {
		t.Errorf("got %+v, %v, want an object with the checksum that S3 takes unasked", out, err)
	}
}

func TestPartsArriveAtTheSameTime(t *testing.T) {
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

	// Of two completions at once one makes the object; the other gets the same answer and leaves no body.
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

func TestAnUnknownCompletionBodyIsRefused(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	client := connect(server)
	createBucket(t, client)
	u := begin(t, client)
	for _, body := range []string{"", "<", "<Other/>", "<CompleteMultipartUpload><Part><PartNumber>x</PartNumber></Part></CompleteMultipartUpload>", "{}"} {
		target := "/exports/k?uploadId=" + *u.id
		status, answer := raw{method: http.MethodPost, target: target, body: body}.send(t, inProcess{server})
		if status != http.StatusBadRequest || !strings.Contains(answer, "MalformedXML") {
			t.Errorf("%q: got %d %s, want MalformedXML", body, status, answer)
		}
	}
}
