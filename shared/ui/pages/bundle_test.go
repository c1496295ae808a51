package pages_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"recordbridge/infra/testkit/built"
	"recordbridge/shared/ui/pages"
)

// watched is a file system that records the files opened.
type watched struct {
	fstest.MapFS

	opened map[string]bool
}

func (w watched) Open(name string) (fs.File, error) {
	w.opened[name] = true
	return w.MapFS.Open(name)
}

// Without ReadFile, reads would bypass Open.
func (w watched) ReadFile(name string) ([]byte, error) {
	w.opened[name] = true
	return w.MapFS.ReadFile(name)
}

func loaded(t *testing.T) *pages.Bundle {
	t.Helper()
	b, err := pages.Load(built.Folder())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func only(encoding string) func(string) bool { return func(e string) bool { return e == encoding } }

func TestLoadIgnoresFilesOutsideManifest(t *testing.T) {
	t.Parallel()
	folder := watched{built.Folder(), map[string]bool{}}
	folder.MapFS["widget/assets/left-over.js"] = &fstest.MapFile{Data: []byte("old")}
	folder.MapFS["secret"] = &fstest.MapFile{Data: []byte("secret")}
	b, err := pages.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"widget/assets/left-over.js", "secret", "manifest.json", "pages/embed.en.html", "", "/", ".", "widget/assets/",
		"widget/assets/../../secret",
		"widget/assets/embed-1a2b3c.js.gz", "widget/assets/..%2f..%2fsecret", "sdk/4.1.2/../../secret",
		"/widget/assets/embed-1a2b3c.js", "sdk/3/svc-widget.js",
	} {
		if f, ok := b.File(name); ok {
			t.Errorf("%q is served: %+v", name, f)
		}
	}
	if folder.opened["widget/assets/left-over.js"] || folder.opened["secret"] {
		t.Errorf("opened %v", folder.opened)
	}
}

func TestFileHasEncodingsAndCacheLifetime(t *testing.T) {
	t.Parallel()
	b := loaded(t)
	asset, ok := b.File("widget/assets/embed-1a2b3c.js")
	if !ok || asset.Type != "text/javascript" || asset.Life != pages.Forever || asset.Audience != pages.Ours {
		t.Errorf("got %+v", asset)
	}
	plain, packed, short := asset.In(only("")), asset.In(only("gzip")), asset.In(func(string) bool { return true })
	if string(plain.Body) != built.Script || packed.Encoding != "gzip" || short.Encoding != "br" {
		t.Errorf("got %+v, %+v, %+v", plain, packed, short)
	}
	if plain.Tag == packed.Tag || packed.Tag == short.Tag || len(plain.Tag) < 20 {
		t.Errorf("tags %s, %s, %s", plain.Tag, packed.Tag, short.Tag)
	}
	pinned, _ := b.File("sdk/" + built.Version + "/svc-widget.js")
	floating, _ := b.File("sdk/4/svc-widget.js")
	released, _ := b.File("sdk/manifest.json")
	if pinned.Life != pages.Forever || floating.Life != pages.Minutes || released.Life != pages.Minutes {
		t.Errorf("lives %s, %s, %s", pinned.Life, floating.Life, released.Life)
	}
	for _, f := range []pages.File{pinned, floating, released} {
		if f.Audience != pages.Everybody {
			t.Errorf("%+v is not everybody's", f)
		}
	}
	if string(floating.In(only("")).Body) != built.SDK {
		t.Errorf("got %s", floating.In(only("")).Body)
	}
	text := string(released.In(only("br")).Body) // The file has no Brotli form, so In returns the unencoded one.
	if !strings.HasPrefix(text, `{"version":"4.1.2","files":{"record-view.js":{"path":"4.1.2/record-view.js",`) ||
		!strings.Contains(text, `"svc-widget.js":{"path":"4.1.2/svc-widget.js","integrity":"sha384-`) {
		t.Errorf("the SDK's manifest is %s", text)
	}
}

func TestFileServesNewestViewerOutsideVersionFolder(t *testing.T) {
	t.Parallel()
	b := loaded(t)
	pinned, _ := b.File("sdk/" + built.Version + "/" + pages.Viewer)
	newest, ok := b.File(pages.Viewer)
	if !ok || newest.Life != pages.Minutes || newest.Audience != pages.Everybody || pinned.Life != pages.Forever ||
		string(newest.In(only("")).Body) != built.Viewer {
		t.Errorf("got %+v and %+v", newest, pinned)
	}
}

func TestLoadDistinguishesMissingFromDamagedBuild(t *testing.T) {
	t.Parallel()
	if _, err := pages.Load(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	for name, damage := range map[string]func(fstest.MapFS){
		"no JSON":             func(f fstest.MapFS) { f["manifest.json"].Data = []byte("{") },
		"a missing file":      func(f fstest.MapFS) { delete(f, "widget/assets/embed-1a2b3c.js") },
		"a missing page":      func(f fstest.MapFS) { delete(f, "pages/embed.en.html") },
		"a page without boot": func(f fstest.MapFS) { f["pages/embed.en.html"].Data = []byte("{{title}}") },
		"a style, no hash":    func(f fstest.MapFS) { replace(f, built.StyleHash, "") },
		"a hash that is none": func(f fstest.MapFS) { replace(f, built.StyleHash, "sha256-x'; script-src *") },
		"a way out": func(f fstest.MapFS) {
			replace(f, "widget/assets/embed-1a2b3c.js",
				"widget/assets/../../../etc/passwd")
		},
		"another place":       func(f fstest.MapFS) { replace(f, "widget/assets/embed-1a2b3c.js", "pages/embed.en.html") },
		"another version":     func(f fstest.MapFS) { replace(f, `"version":"4.1.2"`, `"version":"4.1.3"`) },
		"a file without type": func(f fstest.MapFS) { replace(f, `"type":"text/css"`, `"type":""`) },
		"an absolute path": func(f fstest.MapFS) {
			replace(f, "widget/assets/embed-1a2b3c.js",
				"/widget/assets/embed-1a2b3c.js")
		},
		"a path that is not so": func(f fstest.MapFS) {
			replace(f, "widget/assets/embed-1a2b3c.js",
				"widget/assets//embed-1a2b3c.js")
		},
	} {
		folder := built.Folder()
		damage(folder)
		if _, err := pages.Load(folder); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func replace(f fstest.MapFS, from, to string) {
	f["manifest.json"].Data = []byte(strings.ReplaceAll(string(f["manifest.json"].Data), from, to))
}
