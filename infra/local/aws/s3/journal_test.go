package s3_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/s3"
)

// restart simulates two restarts and returns a client. The first server replays the journal; the second replays the
// first server's dump.
func restart(t *testing.T, dir string, journal *memoryJournal) *awss3.Client {
	t.Helper()
	first, second := newServer(t, s3.Options{Dir: dir, Journal: journal}),
		newServer(t, s3.Options{Dir: dir, Journal: journal})
	for _, record := range journal.records {
		if err := first.Replay(record); err != nil {
			t.Fatalf("replay %s: %v", record, err)
		}
	}
	err := first.Dump(func(record any) error {
		raw, err := json.Marshal(record)
		return errors.Join(err, second.Replay(raw))
	})
	if err != nil {
		t.Fatal(err)
	}
	return connect(second)
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestObjectsAndUploadsSurviveRestart(t *testing.T) {
	t.Parallel()
	dir, journal := filepath.Join(t.TempDir(), "not", "made"), &memoryJournal{}
	client := restart(t, dir, journal)
	createBucket(t, client)
	put(t, client, "gone", "gone")
	put(t, client, "kept", "old")
	put(t, client, "kept", "new")
	if _, err := client.DeleteObject(t.Context(),
		&awss3.DeleteObjectInput{Bucket: aws.String(bucketName), Key: aws.String("gone")}); err != nil {
		t.Fatal(err)
	}
	finished, aborted, resumed := begin(t, client), begin(t, client), begin(t, client)
	if _, err := finished.complete(t, finished.part(t, 1, []byte("finished"))); err != nil {
		t.Fatal(err)
	}
	aborted.part(t, 1, []byte("aborted"))
	if _, err := client.AbortMultipartUpload(t.Context(),
		&awss3.AbortMultipartUploadInput{
			Bucket: aws.String(bucketName), Key: aws.String("k"),
			UploadId: aborted.id,
		}); err != nil {
		t.Fatal(err)
	}
	first := resumed.part(t, 1, filler('a', 5*mib))

	client = restart(t, dir, journal)
	resumed.client = client
	if got := string(read(t, client, "kept")); got != "new" {
		t.Errorf("got %q, want the last body", got)
	}
	if got := string(read(t, client, "k")); got != "finished" {
		t.Errorf("got %q, want the completed upload", got)
	}
	second := resumed.part(t, 2, []byte("end"))
	if _, err := resumed.complete(t, first, second); err != nil {
		t.Fatal(err)
	}
	if got := read(t, client, "k"); !bytes.Equal(got, append(filler('a', 5*mib), "end"...)) {
		t.Errorf("got %d bytes, want both parts", len(got))
	}
	keys := listAll(t, restart(t, dir, journal),
		&awss3.ListObjectsV2Input{Bucket: aws.String(bucketName), MaxKeys: aws.Int32(9)})
	if diff := cmp.Diff([]string{"k", "kept"}, keys); diff != "" {
		t.Errorf("after a third start (-want +got):\n%s", diff)
	}
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("got %d files, want one per object", len(got))
	}
}

func TestObjectHeadersSurviveRestart(t *testing.T) {
	t.Parallel()
	dir, journal := t.TempDir(), &memoryJournal{}
	client := restart(t, dir, journal)
	createBucket(t, client)
	_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), Body: strings.NewReader("m"),
		ContentType: aws.String("text/plain"),
		Metadata:    map[string]string{"task": "t<1>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	head := func(client *awss3.Client) []any {
		out, err := client.HeadObject(t.Context(),
			&awss3.HeadObjectInput{
				Bucket: aws.String(bucketName), Key: aws.String("k"),
				ChecksumMode: types.ChecksumModeEnabled,
			})
		if err != nil {
			t.Fatal(err)
		}
		return []any{out.ContentType, out.Metadata, out.ETag, out.LastModified, out.ChecksumCRC32, out.ContentLength}
	}
	if diff := cmp.Diff(head(client), head(restart(t, dir, journal))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestStartRemovesOrphanedBodies(t *testing.T) {
	t.Parallel()
	dir, journal := t.TempDir(), &memoryJournal{}
	client := restart(t, dir, journal)
	createBucket(t, client)
	put(t, client, "k", "kept")
	kept := files(t, dir)
	for _, name := range []string{"ABCDEF.object", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(read(t, restart(t, dir, journal), "k")); got != "kept" {
		t.Errorf("got %q, want kept", got)
	}
	if diff := cmp.Diff(append(kept, "notes.txt"), files(t, dir)); diff != "" {
		t.Errorf("a stray body goes, a file of someone else stays (-want +got):\n%s", diff)
	}
}

func TestChangesAreRolledBackWhenJournalFails(t *testing.T) {
	t.Parallel()
	dir, journal := t.TempDir(), &memoryJournal{}
	client := restart(t, dir, journal)
	createBucket(t, client)
	put(t, client, "k", "old")
	u := begin(t, client)
	before := files(t, dir)
	journal.failing = true
	_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"),
		Body: strings.NewReader("new"),
	})
	wantCode(t, err, "InternalError")
	_, err = client.UploadPart(t.Context(), &awss3.UploadPartInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"),
		UploadId: u.id, PartNumber: aws.Int32(1), Body: strings.NewReader("x"),
	})
	wantCode(t, err, "InternalError")
	_, err = client.DeleteObject(t.Context(),
		&awss3.DeleteObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k")})
	wantCode(t, err, "InternalError")
	if got := string(read(t, client, "k")); got != "old" {
		t.Errorf("got %q, want old", got)
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestPutObjectRemovesFileOfRejectedBody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	client := connect(newServer(t, s3.Options{Dir: dir}))
	createBucket(t, client)
	_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucketName), Key: aws.String("k"), Body: strings.NewReader("x"),
		ChecksumCRC32: aws.String("AAAAAA=="),
	})
	wantCode(t, err, "BadDigest")
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("got %v, want an empty folder", got)
	}
}

func TestReplayRejectsInvalidRecords(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	for _, record := range []string{
		`?`, `{}`, `{"kind":"other"}`, `{"kind":"object_put","bucket":"none"}`, `{"kind":"part_stored","upload_id":"none"}`,
		`{"kind":"upload_created","upload_id":"u"}`,
	} {
		if err := server.Replay(json.RawMessage(record)); err == nil {
			t.Errorf("%s was accepted", record)
		}
	}
	if err := server.Replay(json.RawMessage(`{"kind":"bucket_created","bucket":"exports"}`)); err != nil {
		t.Fatal(err)
	}
	if err := server.Replay(json.RawMessage(`{"kind":"object_put","bucket":"exports","keys":["k"]}`)); err == nil {
		t.Error("an object without an object was accepted")
	}
}

func TestNewFailsWhenFolderCannotBeCreated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s3.New(s3.Options{Dir: file}); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// zeros is an endless body that uses no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestPutObjectStreamsLargeBodyToDisk must not run in parallel, because it measures the memory of the whole process.
func TestPutObjectStreamsLargeBodyToDisk(t *testing.T) {
	const size = 128 * mib
	server := newServer(t, s3.Options{Dir: t.TempDir()})
	client := connect(server)
	createBucket(t, client)
	presigned, err := awss3.NewPresignClient(client).PresignPutObject(t.Context(),
		&awss3.PutObjectInput{Bucket: aws.String(bucketName), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, presigned.URL, io.LimitReader(zeros{}, size))
	r.ContentLength = size

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := inProcess{server}.ask(r)
	runtime.ReadMemStats(&after)
	if got.status != http.StatusOK {
		t.Fatalf("got %+v, want 200", got)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > size/8 {
		t.Errorf("allocated %d MiB for a body of %d MiB", allocated/mib, size/mib)
	}
}

func TestCompleteMultipartUploadIsIdempotentAcrossRestart(t *testing.T) {
	t.Parallel()
	log := &memoryJournal{}
	client := connect(newServer(t, s3.Options{Journal: log}))
	createBucket(t, client)
	u := begin(t, client)
	end := u.part(t, 1, []byte("end"))
	first, err := u.complete(t, end)
	if err != nil {
		t.Fatal(err)
	}
	restarted := newServer(t, s3.Options{})
	for _, record := range log.records {
		if err = restarted.Replay(record); err != nil {
			t.Fatal(err)
		}
	}
	again, err := upload{connect(restarted), u.id}.complete(t, end)
	if err != nil || aws.ToString(again.ETag) != aws.ToString(first.ETag) {
		t.Errorf("got %+v, %v; want the first answer", again, err)
	}
}

func TestDumpFailsWhenObjectContentIsMissing(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"lost", "k"} {
		dir := t.TempDir()
		server := newServer(t, s3.Options{Dir: dir})
		client := connect(server)
		createBucket(t, client)
		if key == "k" { // tests a part of a multipart upload in progress
			begin(t, client).part(t, 1, []byte("one"))
		} else {
			put(t, client, key, "content")
		}
		gone := filepath.Join(dir, files(t, dir)[0])
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		err := server.Dump(func(any) error { return nil })
		if err == nil || !strings.Contains(err.Error(), bucketName+"/"+key) || !strings.Contains(err.Error(), gone) {
			t.Errorf("%s: got %v, want an error that names object and file", key, err)
		}
	}
}
