package pages

import (
	"context"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"recordbridge/shared/words/fault"
)

// maxFile is the maximum size of a file in bytes. The limits in shared/ui are much lower.
const maxFile = 1 << 20

// Releases serves the immutable files of every deployed release, which infra/deploy uploads. These files are needed by
// pages of other releases and by customers who pin a version (docs/adr/0035-the-widget.md).
type Releases struct{ Files Files }

// Files stores files by path relative to the base URL. Each encoding has its own name. Open returns fault.NotFound if
// the file does not exist.
type Files interface {
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// File returns the smallest form of a file that the client accepts. It returns fault.NotFound if no release contains
// the file. Only the paths of assets and of SDK versions are looked up.
func (r Releases) File(ctx context.Context, at string, takes func(encoding string) bool) (File, error) {
	if !immutable().MatchString(at) {
		return File{}, fault.Missing("File not found.")
	}
	encoding, suffix := "", ""
	switch {
	case takes("br"):
		encoding, suffix = "br", ".br"
	case takes("gzip"):
		encoding, suffix = "gzip", ".gz"
	}
	body, err := r.read(ctx, at+suffix)
	if err != nil {
		return File{}, err
	}
	f := File{Type: "text/javascript; charset=utf-8", Life: Forever, Audience: Ours, forms: []Form{formOf(encoding, body)}}
	if path.Ext(at) == ".css" {
		f.Type = "text/css; charset=utf-8"
	}
	if strings.HasPrefix(at, sdkFolder) {
		f.Audience = Everybody
	}
	return f, nil
}

// immutable returns a pattern that matches the names of files that never change, as written by shared/ui/build.mjs.
func immutable() *regexp.Regexp {
	return regexp.MustCompile(
		`^(widget/assets/[a-z][a-z0-9-]{0,40}-[A-Z0-9]{8}\.(js|css)|sdk/[0-9]{1,5}\.[0-9]{1,5}\.[0-9]{1,5}/[a-z-]{1,` +
			`40}\.js)$`)
}

func (r Releases) read(ctx context.Context, key string) ([]byte, error) {
	object, err := r.Files.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("a file of another release: %w", err)
	}
	defer func() { _ = object.Close() }() // Errors are ignored, because the object was only opened for reading.
	body, err := io.ReadAll(io.LimitReader(object, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("a file of another release: %w", err)
	}
	if len(body) > maxFile {
		return nil, fault.Of(fmt.Errorf("a file of another release has more than %d bytes", maxFile))
	}
	return body, nil
}
