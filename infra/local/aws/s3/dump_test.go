package s3_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/local/aws/s3"
)

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
