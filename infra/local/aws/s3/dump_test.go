package s3_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/s3"
)

// recordsOf is what a server dumps.
func recordsOf(t *testing.T, server *s3.Server) *memoryJournal {
	t.Helper()
	dump := &memoryJournal{}
	err := server.Dump(func(record any) error { return dump.Append("s3", record) }, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return dump
}

func TestADumpHoldsObjectsAndUploads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := newServer(t, s3.Options{Dir: dir})
	client := connect(server)
	createBucket(t, client)
	put(t, client, "kept", "old")
	put(t, client, "kept", "new")
	put(t, client, "gone", "gone")
	if _, err := client.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(bucketName), Key: aws.String("gone")}); err != nil {
		t.Fatal(err)
	}
	u := begin(t, client)
	first := u.part(t, 1, filler('a', 5*mib))
	u.part(t, 2, []byte("replaced"))
	second := u.part(t, 2, []byte("end"))

	dump := recordsOf(t, server)
	again := newServer(t, s3.Options{Dir: dir})
	for _, record := range dump.records {
		if err := again.Replay(record); err != nil {
			t.Fatalf("replay %s: %v", record, err)
		}
	}
	if diff := cmp.Diff(texts(dump), texts(recordsOf(t, again))); diff != "" {
		t.Errorf("the dump of a dump (-want +got):\n%s", diff)
	}
	client = connect(again)
	u.client = client
	if _, err := u.complete(t, first, second); err != nil {
		t.Fatal(err)
	}
	if got := read(t, client, "k"); len(got) != 5*mib+3 {
		t.Errorf("got %d bytes, want both parts", len(got))
	}
	if got := string(read(t, client, "kept")); got != "new" {
		t.Errorf("got %q, want the last body", got)
	}
	if diff := cmp.Diff([]string{"k", "kept"}, listAll(t, client, &awss3.ListObjectsV2Input{Bucket: aws.String(bucketName), MaxKeys: aws.Int32(9)})); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func texts(dump *memoryJournal) []string {
	all := make([]string, 0, len(dump.records))
	for _, record := range dump.records {
		all = append(all, string(record))
	}
	return all
}

func TestMissingBodiesAreFoundAndForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := newServer(t, s3.Options{Dir: dir})
	client := connect(server)
	createBucket(t, client)
	put(t, client, "kept", "kept")
	kept := files(t, dir)
	put(t, client, "lost", "lost")
	u := begin(t, client)
	u.part(t, 1, []byte("one"))
	u.part(t, 2, []byte("two"))
	if got := server.Missing(); len(got) != 0 {
		t.Fatalf("got %+v although nothing is missing", got)
	}
	for _, name := range files(t, dir) {
		if name == kept[0] {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := server.Missing()
	if len(got) != 2 || got[0].Key != "k" || got[0].UploadID != aws.ToString(u.id) || got[1].Key != "lost" || !strings.HasSuffix(got[1].Body, ".object") {
		t.Fatalf("got %+v, want the upload of k, once, and the object lost", got)
	}
	for _, missing := range got {
		if err := server.Forget(missing); err != nil {
			t.Fatal(err)
		}
	}
	if got := server.Missing(); len(got) != 0 {
		t.Errorf("got %+v after they were forgotten", got)
	}
	if got := string(read(t, client, "kept")); got != "kept" {
		t.Errorf("got %q, want the object that has its body", got)
	}
}

func TestMemoryMissesNothing(t *testing.T) {
	t.Parallel()
	server := newServer(t, s3.Options{})
	if err := server.Replay(json.RawMessage(`{"kind":"bucket_created","bucket":"exports"}`)); err != nil {
		t.Fatal(err)
	}
	if err := server.Replay(json.RawMessage(`{"kind":"object_put","bucket":"exports","keys":["k"],"object":{"blob":"B"}}`)); err != nil {
		t.Fatal(err)
	}
	if got := server.Missing(); got != nil {
		t.Errorf("got %+v from a server without a folder", got)
	}
}
