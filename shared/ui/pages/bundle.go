// Package pages owns what browsers get of the widget and of our own pages: the files that shared/ui builds,
// as they were written beside the function (docs/adr/0035-the-widget.md), and the pages that are made of
// them for one organisation. It knows no HTTP and reads a folder once; nothing that the folder's manifest
// does not name is ever opened.
package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const (
	assetsFolder = "widget/assets/" // hashed names
	sdkFolder    = "sdk/"           // a folder for each version
)

// Bundle is one build of the pages, whole in memory.
type Bundle struct {
	files map[string]File // by their path below the base URL
	pages map[string]page // by name and language, as "embed.en"
}

// manifest is manifest.json, as shared/ui/build.mjs writes it.
type manifest struct {
	Version string `json:"version"`
	Files   map[string]struct {
		Path      string `json:"path"` // in the folder, and below the base URL
		Integrity string `json:"integrity"`
		Type      string `json:"type"`
	} `json:"files"` // by logical name
	Pages map[string]struct {
		StyleHash string `json:"style_hash"` // "sha256-…" of the inline style
	} `json:"pages"` // by name and language
}

// Load reads the folder of a build. The error is fs.ErrNotExist where there is no manifest, which is how a service
// without pages is told from a damaged one.
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

// File finds a file by its path below the base URL, such as "widget/assets/embed-1a2b.js".
func (b *Bundle) File(at string) (f File, ok bool) {
	f, ok = b.files[at]
	return f, ok
}

// place puts a file under its own address, which always has the same bytes, and one of the SDK also under that of its
// major version, which gets later ones.
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
	default:
		return fmt.Errorf("%s is neither an asset nor of version %s of the SDK", at, version)
	}
	b.files[at] = f
	return nil
}

// released is what /sdk/manifest.json tells whoever pins a version with its integrity (SRI).
type released struct {
	Version string               `json:"version"`
	Files   map[string]integrity `json:"files"`
}

type integrity struct {
	Path      string `json:"path"` // below /sdk/
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

// File is one file in all its encodings.
type File struct {
	Type     string // media type
	Life     Life
	Audience Audience

	forms []Form // the shortest first; the plain one last
}

// Life is how long a copy of a file may be used.
type Life string

// The lives.
const (
	Forever Life = "forever" // the name changes with the content
	Minutes Life = "minutes"
)

// Audience is whose pages may load a file.
type Audience string

// The audiences.
const (
	Ours      Audience = "ours"
	Everybody Audience = "everybody"
)

// Form is a file in one encoding.
type Form struct {
	Encoding string // as Content-Encoding has it; empty for none
	Tag      string // strong entity tag, with its quotes (RFC 9110 section 8.8.3)
	Body     []byte
}

// In is the shortest form that a client takes, the plain one when it takes no other.
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

// read reads a file and the encodings of it that lie beside it. A path that leads elsewhere is refused by
// the folder (fs.ValidPath).
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

// damaged is not fs.ErrNotExist: of a folder with a manifest nothing may be missing.
//
//nolint:errorlint // see above
func damaged(err error) error { return fmt.Errorf("a file that the manifest names: %v", err) }
