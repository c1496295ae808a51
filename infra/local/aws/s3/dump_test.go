package s3_test

import (
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
	err := server.Dump(func(record any) error { return dump.Append("s3", record) })
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

func TestADumpRefusesToForgetAnObjectWhoseContentIsGone(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"lost", "k"} {
		dir := t.TempDir()
		server := newServer(t, s3.Options{Dir: dir})
		client := connect(server)
		createBucket(t, client)
		if key == "k" { // of an upload in progress
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
