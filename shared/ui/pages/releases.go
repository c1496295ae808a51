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

// maxFile is in bytes. The budgets of shared/ui are far below.
const maxFile = 1 << 20

// Releases are the immutable files of every release that was deployed, as infra/deploy keeps them: what a page asks for
// that another release has made, and customers who pin a version (docs/adr/0035-the-widget.md).
type Releases struct{ Files Files }

// Files keeps them by their paths below the base URL, each encoding under a name of its own; fault.NotFound.
type Files interface {
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// File reads a file in the shortest form that a client takes; fault.NotFound where no release has it. Nothing is looked
// for but what has the address of an asset or of a version of the SDK.
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

// immutable is what shared/ui/build.mjs calls files that never change.
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
	defer func() { _ = object.Close() }() // read only
	body, err := io.ReadAll(io.LimitReader(object, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("a file of another release: %w", err)
	}
	if len(body) > maxFile {
		return nil, fault.Of(fmt.Errorf("a file of another release has more than %d bytes", maxFile))
	}
	return body, nil
}
