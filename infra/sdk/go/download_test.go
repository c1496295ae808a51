package recordbridge_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	recordbridge "recordbridge/infra/sdk/go"
)

// text is an exported file of 153 bytes.
const text = `{"resourceType":"Patient","id":"1","note":"ñ→"}
{"resourceType":"Patient","id":"2","note":"ñ→"}
{"resourceType":"Patient","id":"3","note":"ñ→"}
`

// ids reads the IDs of a file's resources.
func ids(
	t *testing.T, client *recordbridge.Client, file recordbridge.File, progress recordbridge.Progress,
) ([]string, error) {
	t.Helper()
	var found []string
	for resource, err := range client.Resources(t.Context(), file, progress) {
		if err != nil {
			return found, err
		}
		if !strings.Contains(string(resource.Raw), `"ñ→"`) {
			t.Errorf("resource %s", resource.Raw)
		}
		found = append(found, resource.ResourceType+"/"+resource.ID)
	}
	return found, nil
}

func TestDownloadResumesAfterLastByteWhenConnectionBreaks(t *testing.T) {
	t.Parallel()
	ranges := make(chan string, 10)
	base := serve(t, func(w http.ResponseWriter, r *http.Request, count int) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the download sends the key pair")
		}
		if r.URL.Path == "/link" {
			http.Redirect(w, r, fmt.Sprintf("/file%d", count), http.StatusFound)
			return
		}
		ranges <- r.Header.Get("Range")
		from, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
		w.Header().Set("Content-Length", strconv.Itoa(len(text)-from))
		if from > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(text)-1, len(text)))
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = io.WriteString(w, text[from:min(from+50, len(text))]) // the cuts split lines and characters
		if from+50 < len(text) {
			_ = http.NewResponseController(w).Flush()
			hangUp(w)
		}
	})
	client, _ := clientOf(t, base)
	digest := sha256.Sum256([]byte(text))
	file := recordbridge.File{URL: base + "/link", SHA256: hex.EncodeToString(digest[:]), Bytes: int64(len(text))}
	var seen [2]int64
	found, err := ids(t, client, file, func(read, total int64) { seen = [2]int64{read, total} })
	if err != nil || !slices.Equal(found, []string{"Patient/1", "Patient/2", "Patient/3"}) {
		t.Errorf("resources %v, error %v", found, err)
	}
	close(ranges)
	for _, want := range []string{"", "bytes=50-", "bytes=100-", "bytes=150-"} {
		if got := <-ranges; got != want {
			t.Errorf("range %q, want %q", got, want)
		}
	}
	if seen != [2]int64{153, 153} {
		t.Errorf("progress %v", seen)
	}
}

func TestDownloadReturnsErrorWhenServerSendsOtherRange(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, count int) {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if count > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(text)-1, len(text)))
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = io.WriteString(w, text[:50])
		_ = http.NewResponseController(w).Flush()
		hangUp(w)
	})
	client, _ := clientOf(t, base)
	_, err := ids(t, client, recordbridge.File{URL: base}, nil)
	if err == nil || !strings.Contains(err.Error(), "can't be resumed at byte 50") {
		t.Errorf("error %v", err)
	}
}

func TestDownloadSendsNoRequestWhenItIsClosed(t *testing.T) {
	t.Parallel()
	client, _ := clientOf(t, "http://127.0.0.1:1")
	body := client.Download(t.Context(), recordbridge.File{URL: "http://127.0.0.1:1"}, nil)
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := body.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

func TestDownloadReturnsErrorWhenConnectionAlwaysBreaks(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Length", "10")
		_ = http.NewResponseController(w).Flush()
		hangUp(w)
	})
	client, waited := clientOf(t, base)
	if _, err := ids(t, client, recordbridge.File{URL: base}, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if len(waited.list) != 4 {
		t.Errorf("pauses %v", waited.list)
	}
}

func TestResourcesReturnErrorAfterLastResourceWhenDigestDiffers(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.WriteString(w, text) })
	client, _ := clientOf(t, base)
	found, err := ids(t, client, recordbridge.File{URL: base, SHA256: strings.Repeat("0", 64)}, nil)
	if len(found) != 3 || !errors.Is(err, recordbridge.ErrFileMismatch) {
		t.Errorf("resources %v, error %v", found, err)
	}
}

func TestDownloadReturnsErrorOfAPIAtOnceWhenLinkHasExpired(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		respond(w, http.StatusGone, map[string]any{"error": "svc_export_expired", "error_description": "Deleted."})
	})
	client, waited := clientOf(t, base)
	body := client.Download(t.Context(), recordbridge.File{URL: base}, nil)
	t.Cleanup(func() { _ = body.Close() })
	_, err := io.ReadAll(body)
	failure := new(recordbridge.Error)
	if !errors.As(err, &failure) || failure.Code != "svc_export_expired" || failure.Status != http.StatusGone {
		t.Errorf("error %v", err)
	}
	if len(waited.list) != 0 {
		t.Errorf("pauses %v", waited.list)
	}
}

func TestFilesHaveDigestOfTheirFormat(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		respond(w, http.StatusOK, success(map[string]any{
			"task_id": "t", "status": "success",
			"download_links": []map[string]any{
				{"url": "u1", "export_type": "jsonl"}, {"url": "u2", "export_type": "fhir_bundle"},
			},
			"files": []map[string]any{
				{"export_type": "fhir_bundle", "bytes": 2, "sha256": "b"}, {"export_type": "jsonl", "bytes": 1, "sha256": "a"},
			},
		}))
	})
	client, _ := clientOf(t, base)
	files, err := client.Files(t.Context(), "t")
	want := []recordbridge.File{
		{URL: "u1", ExportType: "jsonl", SHA256: "a", Bytes: 1},
		{URL: "u2", ExportType: "fhir_bundle", SHA256: "b", Bytes: 2},
	}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("files %v, error %v", files, err)
	}
}
