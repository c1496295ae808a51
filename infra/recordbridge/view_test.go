package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"recordbridge/infra/testkit/expect"
)

const fakeViewer = "document.title = 'viewer';"

// recordFile writes a file to a folder and returns its path.
func recordFile(t *testing.T, folder, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(folder, name)
	expect.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(text))
	expect.NoError(t, err)
	expect.NoError(t, w.Close())
	return packed.Bytes()
}

func TestWritePageEscapesRecordsAndAllowsOnlyItsScript(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	plain := recordFile(t, folder, "a.ndjson", []byte(`{"id":"</script><script>alert(1)</script>"}`))
	packed := recordFile(t, folder, "b.ndjson.gz", gzipped(t, `{"id":"second"}`+"\n"))
	path, err := writePage(filepath.Join(folder, "page.html"), []byte(fakeViewer), []string{plain, packed})
	expect.NoError(t, err)
	page, err := os.ReadFile(path)
	expect.NoError(t, err)
	for _, want := range []string{
		`<script type="application/x-ndjson">{"id":"\u003c/script>\u003cscript>alert(1)\u003c/script>"}` + "\n" +
			`{"id":"second"}`,
		`default-src 'none'; script-src 'sha256-SXJH1VfXIo5rRXllxzWcIi4OzmJ9FuCZD4M1bhioB68='; style-src 'sha256-`,
		`<script type="module">` + fakeViewer + `</script>`,
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
	if n := strings.Count(string(page), "<script"); n != 2 {
		t.Errorf("the page has %d scripts", n)
	}
}

func TestWritePageIsPrivateAndReplacesFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	record := recordFile(t, folder, "a.ndjson", nil)
	page := recordFile(t, folder, "page.html", []byte("old"))
	expect.NoError(t, os.Chmod(page, 0o644))
	for _, to := range []string{page, ""} {
		path, err := writePage(to, []byte(fakeViewer), []string{record})
		expect.NoError(t, err)
		if to == "" {
			t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(path)) })
		}
		info, err := os.Stat(path)
		expect.NoError(t, err)
		if info.Mode().Perm() != 0o600 || info.Size() < 100 {
			t.Errorf("%s has mode %v and %d bytes", path, info.Mode(), info.Size())
		}
	}
}

func TestWritePageLeavesNoFileWhenInputIsUnreadable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	damaged := recordFile(t, folder, "a.gz", gzipped(t, strings.Repeat("x", 5000))[:30])
	for _, file := range []string{damaged, filepath.Join(folder, "missing")} {
		if _, err := writePage(filepath.Join(folder, "page.html"), []byte(fakeViewer), []string{file}); err == nil ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("got %v", err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

func TestAroundRejectsScriptThatEndsItsElement(t *testing.T) {
	t.Parallel()
	for _, script := range []string{`"</SCRIPT>"`, `"<!--"`, `"<script>"`} {
		if _, _, err := around([]byte(script)); err == nil {
			t.Errorf("%s is accepted", script)
		}
	}
}

func TestReadViewerExplainsMissingBuild(t *testing.T) {
	t.Parallel()
	if _, err := readViewer(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "run make recordbridge") {
		t.Errorf("got %v", err)
	}
	built := fstest.MapFS{"assets/record-view.js": {Data: []byte(fakeViewer)}}
	if script, err := readViewer(built); err != nil || string(script) != fakeViewer {
		t.Errorf("got %s, %v", script, err)
	}
}

func TestViewRequiresFile(t *testing.T) {
	t.Parallel()
	command, _ := newTool(t, newFeed(t))
	if err := command.run(t.Context(), []string{"view"}); err == nil ||
		!strings.Contains(err.Error(), "name at least one NDJSON file") {
		t.Errorf("got %v", err)
	}
}

func TestBrowserDependsOnSystem(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]string{"darwin": "open", "windows": "rundll32", "linux": "xdg-open"} {
		if got := browser(system); got[0] != want {
			t.Errorf("%s: got %v", system, got)
		}
	}
}
