// Package pages serves the widget and the service's own pages to browsers. The package serves the files that shared/ui
// builds and that are deployed with the function (docs/adr/0035-the-widget.md). The package also renders an
// organisation's pages from these files. Each build folder is read only once. Only files listed in its manifest are
// opened.
package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const (
	assetsFolder = "widget/assets/" // The file names contain content hashes.
	sdkFolder    = "sdk/"           // contains one folder per version
)

// Viewer is the path of the record viewer's newest script. Each release's own script is in the SDK's folder.
const Viewer = "record-view.js"

// Bundle is a build of the pages, held in memory.
type Bundle struct {
	files map[string]File // files, keyed by path relative to the base URL
	pages map[string]page // pages, keyed by name and language, such as "embed.en"
}

// manifest has the fields of manifest.json, which shared/ui/build.mjs writes.
type manifest struct {
	Version string `json:"version"`
	Files   map[string]struct {
		Path      string `json:"path"` // path within the folder, and relative to the base URL
		Integrity string `json:"integrity"`
		Type      string `json:"type"`
	} `json:"files"` // files, keyed by logical name
	Pages map[string]struct {
		StyleHash string `json:"style_hash"` // "sha256-…", hash of the inline style element
	} `json:"pages"` // pages, keyed by name and language
}

// Load reads a build folder. It returns fs.ErrNotExist if the folder has no manifest. Any other error means that the
// build is damaged.
func Load(folder fs.FS) (*Bundle, error) {
	text, err := fs.ReadFile(folder, "manifest.json")
	if err != nil {
		return nil, fmt.Errorf("read the pages' manifest: %w", err)
	}
	var named manifest
	if err := json.Unmarshal(text, &named); err != nil {
		return nil, fmt.Errorf("read the pages' manifest: %w", err)
	}
	b := &Bundle{files: map[string]File{}, pages: map[string]page{}}
	released := released{Version: named.Version, Files: map[string]integrity{}}
	for name, f := range named.Files {
		made, err := read(folder, f.Path, f.Type)
		if err != nil {
			return nil, fmt.Errorf("pages: %s: %w", name, err)
		}
		if err := b.place(f.Path, made, named.Version); err != nil {
			return nil, fmt.Errorf("pages: %s: %w", name, err)
		}
		if rest, ok := strings.CutPrefix(f.Path, sdkFolder); ok {
			_, short, _ := strings.Cut(rest, "/")
			released.Files[short] = integrity{Path: rest, Integrity: f.Integrity}
		}
	}
	for name, p := range named.Pages {
		text, err := fs.ReadFile(folder, "pages/"+name+".html")
		if err != nil {
			return nil, damaged(err)
		}
		if b.pages[name], err = newPage(string(text), p.StyleHash); err != nil {
			return nil, fmt.Errorf("pages: %s: %w", name, err)
		}
	}
	return b, b.release(released)
}

// File returns the file at a path relative to the base URL, such as "widget/assets/embed-1a2b.js".
func (b *Bundle) File(at string) (f File, ok bool) {
	f, ok = b.files[at]
	return f, ok
}

// place adds a file at its own path, where the content never changes. An SDK file is also added at its major version's
// path, whose content changes with each release. The record viewer's newest script is also added at Viewer.
func (b *Bundle) place(at string, f File, version string) error {
	f.Life = Forever
	switch {
	case strings.HasPrefix(at, assetsFolder):
		f.Audience = Ours
	case strings.HasPrefix(at, sdkFolder+version+"/"):
		f.Audience = Everybody
		major, _, _ := strings.Cut(version, ".")
		floating := f
		floating.Life = Minutes
		b.files[sdkFolder+major+strings.TrimPrefix(at, sdkFolder+version)] = floating
		if path.Base(at) == Viewer {
			b.files[Viewer] = floating
		}
	default:
		return fmt.Errorf("%s is neither an asset nor of version %s of the SDK", at, version)
	}
	b.files[at] = f
	return nil
}

// released is the content of /sdk/manifest.json, which pages use to pin a version and its integrity hash (SRI).
type released struct {
	Version string               `json:"version"`
	Files   map[string]integrity `json:"files"`
}

type integrity struct {
	Path      string `json:"path"` // path relative to /sdk/
	Integrity string `json:"integrity"`
}

func (b *Bundle) release(r released) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("pages: make the SDK's manifest: %w", err)
	}
	b.files[sdkFolder+"manifest.json"] = File{
		Type: "application/json", Life: Minutes, Audience: Everybody, forms: []Form{formOf("", text)},
	}
	return nil
}

// File is a file in all available encodings.
type File struct {
	Type     string // media type
	Life     Life
	Audience Audience

	forms []Form // shortest form first, unencoded form last
}

// Life is the time that a file may be cached.
type Life string

// Cache lifetimes of files.
const (
	Forever Life = "forever" // the content never changes, because the name contains its hash
	Minutes Life = "minutes"
	Briefly Life = "briefly" // clients must revalidate the file before each use
)

// Audience identifies the pages that may load a file.
type Audience string

// Audiences of files.
const (
	Ours      Audience = "ours"
	Everybody Audience = "everybody"
)

// Form is a file in a single encoding.
type Form struct {
	Encoding string // Content-Encoding value; may be empty
	Tag      string // strong entity tag, including the quotes (RFC 9110 section 8.8.3)
	Body     []byte
}

// In returns the smallest form of the file in an encoding that the client accepts, or the unencoded form if there is
// none.
func (f File) In(takes func(encoding string) bool) Form {
	for _, form := range f.forms[:len(f.forms)-1] {
		if takes(form.Encoding) {
			return form
		}
	}
	return f.forms[len(f.forms)-1]
}

func formOf(encoding string, body []byte) Form {
	sum := sha256.Sum256(body)
	return Form{Encoding: encoding, Tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:18]) + `"`, Body: body}
}

// read reads a file and its encoded variants from folder. read rejects paths that lead outside the folder
// (fs.ValidPath).
func read(folder fs.FS, at, mediaType string) (File, error) {
	if mediaType == "" {
		return File{}, fmt.Errorf("%q has no media type", at)
	}
	f := File{Type: mediaType}
	for _, form := range []struct{ encoding, suffix string }{{"br", ".br"}, {"gzip", ".gz"}, {"", ""}} {
		body, err := fs.ReadFile(folder, at+form.suffix)
		switch {
		case err == nil:
			f.forms = append(f.forms, formOf(form.encoding, body))
		case form.suffix == "" || !errors.Is(err, fs.ErrNotExist):
			return File{}, damaged(err)
		}
	}
	return f, nil
}

// damaged wraps err so that it no longer matches fs.ErrNotExist. If the folder has a manifest, a missing file means
// that the build is damaged, not that the build is absent.
//
//nolint:errorlint // see above
func damaged(err error) error { return fmt.Errorf("a file that the manifest names: %v", err) }
