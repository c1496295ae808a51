// Package built provides a small build of the pages in the format of shared/ui/build.mjs. Tests serve this build if the
// full build, which needs Node, is missing. Only tests import this package.
package built

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
)

// Version is the SDK version in the build.
const Version = "4.1.2"

// StyleHash is the hash of the pages' style sheet in the manifest.
const StyleHash = "sha256-YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY="

// Contents of the JavaScript files in the build.
const (
	Script = "export const kind = 'embed';"
	SDK    = "customElements.define('svc-widget-element', class extends HTMLElement {});"
	Viewer = "customElements.define('record-view', class extends HTMLElement {});"
)

// Folder returns the build as an in-memory file system. The .br files are not valid Brotli because servers never decode
// them.
func Folder() fstest.MapFS {
	folder := fstest.MapFS{}
	files := map[string]string{}
	add := func(name, path, mediaType, text string) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write([]byte(text)) // writing to a buffer never fails
		_ = w.Close()
		folder[path] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		folder[path+".gz"] = &fstest.MapFile{Data: packed.Bytes(), Mode: 0o644}
		folder[path+".br"] = &fstest.MapFile{Data: []byte("\xffbr of " + name), Mode: 0o644}
		sum := sha512.Sum384([]byte(text))
		files[name] = fmt.Sprintf(`{"path":%q,"size":%d,"gzip":%d,"type":%q,"integrity":"sha384-%s"}`,
			path, len(text), packed.Len(), mediaType, base64.StdEncoding.EncodeToString(sum[:]))
	}
	add("embed.js", "widget/assets/embed-1a2b3c.js", "text/javascript", Script)
	add("embed.css", "widget/assets/embed-4d5e6f.css", "text/css", "body{margin:0}")
	add("sdk/svc-widget.js", "sdk/"+Version+"/svc-widget.js", "text/javascript", SDK)
	add("sdk/record-view.js", "sdk/"+Version+"/record-view.js", "text/javascript", Viewer)
	pages := map[string]string{}
	for _, name := range []string{"embed", "connect", "demo", "dashboard"} {
		for _, language := range []string{"en", "es"} {
			page := name + "." + language
			pages[page] = fmt.Sprintf(`{"style_hash":%q}`, StyleHash)
			folder["pages/"+page+".html"] = &fstest.MapFile{
				Mode: 0o644,
				Data: fmt.Appendf(nil, `<!doctype html><html lang="%s"{{scheme}}><title>{{title}}</title>`+
					`<style>body{}</style>{{look}}<script id="boot" type="application/json">{{boot}}</script>`+
					`<script type="module" src="assets/%s-1a2b3c.js"></script></html>`, language, name),
			}
		}
	}
	folder["manifest.json"] = &fstest.MapFile{
		Mode: 0o644,
		Data: fmt.Appendf(nil, `{"version":%q,"files":{%s},"pages":{%s}}`, Version, members(files), members(pages)),
	}
	return folder
}

// Site returns a build of the documentation site in the format of infra/site/build.mjs.
func Site() fstest.MapFS {
	const page = `<!doctype html><script src="./start.js"></script>`
	return fstest.MapFS{
		"manifest.json": {Data: []byte(`{"source":"1","files":{
			"index.html":{"type":"text/html; charset=utf-8","hash":"h1","gzip":true},
			"404.html":{"type":"text/html; charset=utf-8","hash":"h2"},
			"reference/api.html":{"type":"text/html; charset=utf-8","hash":"h3"},
			"assets/app.1a2b.js":{"type":"text/javascript; charset=utf-8","hash":"h4"}}}`), Mode: 0o644},
		"index.html":         {Data: []byte(page), Mode: 0o644},
		"index.html.gz":      {Data: []byte("\x1f\x8b of the page"), Mode: 0o644},
		"404.html":           {Data: []byte(page), Mode: 0o644},
		"reference/api.html": {Data: []byte(page), Mode: 0o644},
		"assets/app.1a2b.js": {Data: []byte("export {};"), Mode: 0o644},
	}
}

// SiteInto writes the documentation site to a folder on disk.
func SiteInto(to string) error {
	if err := os.CopyFS(filepath.Clean(to), Site()); err != nil {
		return fmt.Errorf("write the documentation site to test with: %w", err)
	}
	return nil
}

func members(of map[string]string) string {
	all := make([]string, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, fmt.Sprintf("%q:%s", name, of[name]))
	}
	return strings.Join(all, ",")
}

// Into writes the build to a folder on disk.
func Into(to string) error {
	if err := os.CopyFS(filepath.Clean(to), Folder()); err != nil {
		return fmt.Errorf("write pages to test with: %w", err)
	}
	return nil
}
