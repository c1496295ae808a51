package pages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// missingPage is the path of the page that the site shows for unknown paths.
const missingPage = "404.html"

// Site is a build of the documentation site (docs/adr/0056-the-documentation-site.md). Site reads files on demand,
// because an instance serves only a few of them.
type Site struct {
	folder fs.FS
	files  map[string]siteFile // files, keyed by path within the site
	base   string              // the site's base path, which ends in a slash
}

// siteFile describes a file in manifest.json, which infra/site/build.mjs writes.
type siteFile struct {
	Type string `json:"type"`
	Hash string `json:"hash"`
	Gzip bool   `json:"gzip"` // whether the folder also contains the compressed file
}

// LoadSite reads the manifest of a build folder. base is the URL path at which the site is served. LoadSite returns
// fs.ErrNotExist if the folder has no manifest.
func LoadSite(folder fs.FS, base string) (*Site, error) {
	text, err := fs.ReadFile(folder, "manifest.json")
	if err != nil {
		return nil, fmt.Errorf("read the site's manifest: %w", err)
	}
	s := &Site{folder: folder, base: strings.TrimSuffix(base, "/") + "/"}
	if err := json.Unmarshal(text, &struct {
		Files *map[string]siteFile `json:"files"`
	}{&s.files}); err != nil {
		return nil, fmt.Errorf("read the site's manifest: %w", err)
	}
	return s, nil
}

// SiteFile is a file of the documentation site in an encoding that the client accepts.
type SiteFile struct {
	Form

	Type   string // media type
	Life   Life
	Policy string // Content-Security-Policy; empty if the file isn't a page
}

// File returns the file at a path within the site. ok is false if there is no such file.
func (s *Site) File(at string, takes func(encoding string) bool) (f SiteFile, ok bool, err error) {
	found, ok := s.files[at]
	if !ok {
		return SiteFile{}, false, nil
	}
	f = SiteFile{Type: found.Type, Life: Briefly, Policy: sitePolicy(at, found.Type)}
	if strings.HasPrefix(at, "assets/") {
		f.Life = Forever
	}
	suffix := ""
	if found.Gzip && takes("gzip") {
		f.Encoding, suffix = "gzip", ".gz"
	}
	if f.Body, err = fs.ReadFile(s.folder, at+suffix); err != nil {
		return SiteFile{}, false, damaged(err)
	}
	f.Tag = `"` + found.Hash + f.Encoding + `"` // each encoding has its own strong tag
	return f, true, nil
}

// Missing returns the page for unknown paths, without encoding. Its links are relative to the site's base, although the
// page can be shown at any path below the base.
func (s *Site) Missing() (SiteFile, error) {
	f, ok, err := s.File(missingPage, func(string) bool { return false })
	switch {
	case err != nil:
		return SiteFile{}, err
	case !ok:
		return SiteFile{}, errors.New("pages: the site has no page for unknown paths")
	}
	f.Body = []byte(strings.ReplaceAll(string(f.Body), `="./`, `="`+s.base))
	return f, nil
}

// Hashes of style elements that scripts create.
const (
	// Redoc creates an empty element and then fills it by script.
	emptyStyle = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
	// VitePress suppresses transitions while it switches to or from dark mode.
	stillStyle = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='"
)

// sitePolicy returns the Content-Security-Policy of a page, which allows only the service's own resources.
func sitePolicy(at, mediaType string) string {
	if !strings.HasPrefix(mediaType, "text/html") {
		return ""
	}
	styles, fonts := "'self' "+stillStyle, ""
	if at == "reference/api.html" || at == "reference/events.html" {
		styles = "'self' " + emptyStyle
		fonts = "font-src data:; "
	}
	return "default-src 'none'; script-src 'self'; style-src " + styles + "; img-src 'self' data:; " + fonts +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
