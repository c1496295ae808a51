// Package snapshot defines the catalogue's files (docs/adr/0023-the-catalogue.md): a version's objects, their exact
// content, and the version's name. Objects are written once and never change. ledger.Pointer selects the live version.
package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
)

// Snapshots stores versions of a catalogue in a bucket.
type Snapshots struct{ Files Files }

// Files stores objects.
type Files interface {
	// Write stores the output of write as an object, in bounded memory. If write fails or the context ends, the object
	// is not created.
	Write(ctx context.Context, key, contentType string, write func(io.Writer) error) error
	// Open reads an object. It returns fault.NotFound if the object does not exist.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete deletes an object if it exists.
	Delete(ctx context.Context, key string) error
}

// Files in a version. The first three files are available to organisations. Each file is a JSON object that maps IDs to
// records, with one record per line.
const (
	Brands    = "brands.json"
	Portals   = "portals.json"
	Endpoints = "endpoints.json"
	Merged    = "merged.json" // maps merged records' IDs to their successors' IDs
	bases     = "bases.json"  // maps endpoint IDs to FHIR bases; not available to organisations
	Index     = "index"
	Served    = "served" // maps brands to the endpoints that serve their patients
)

// contentType returns the media type of a file.
func contentType(file string) string {
	if file == Index || file == Served {
		return "application/octet-stream"
	}
	return "application/json"
}

// Key returns the key of an object in a version.
func Key(mode string, v ledger.Version, file string) string {
	return "snapshots/" + mode + "/" + string(v) + "/" + file
}

// Name returns the version name for a catalogue created at the given time. The versions of equal catalogues have the
// same Hash.
func Name(c record.Catalog, at time.Time) (ledger.Version, error) {
	sum := sha256.New()
	for _, f := range files(c) {
		if _, err := io.WriteString(sum, f.name+"\n"); err != nil {
			return "", fmt.Errorf("name the snapshot: %w", err)
		}
		if err := f.write(sum); err != nil {
			return "", fmt.Errorf("name the snapshot: %w", err)
		}
	}
	return ledger.NewVersion(at, ledger.Shorten(sum.Sum(nil))), nil
}

// Write writes a mode's catalogue as the version that Name returns. An interrupted write must be repeated entirely.
func (s Snapshots) Write(ctx context.Context, mode string, c record.Catalog, at time.Time) (ledger.Version, error) {
	v, err := Name(c, at)
	if err != nil {
		return "", err
	}
	for _, f := range append(files(c), indexOf(c), servedOf(c)) {
		if err := s.Files.Write(ctx, Key(mode, v, f.name), contentType(f.name), f.write); err != nil {
			return "", fmt.Errorf("write %s of %s: %w", f.name, v, err)
		}
	}
	return v, nil
}

// Catalog reads a version's records. It returns fault.NotFound if the version does not exist.
func (s Snapshots) Catalog(ctx context.Context, mode string, v ledger.Version) (record.Catalog, error) {
	c := record.Catalog{}
	endpoints, err := s.Endpoints(ctx, mode, v)
	c.Endpoints = endpoints
	err = errors.Join(
		err, read(ctx, s, Key(mode, v, Brands), &c.Brands), read(ctx, s, Key(mode, v, Portals), &c.Portals),
		read(ctx, s, Key(mode, v, Merged), &c.Successors),
	)
	return c, err
}

// Delete deletes all of a version's existing objects.
func (s Snapshots) Delete(ctx context.Context, mode string, v ledger.Version) error {
	for _, file := range []string{Brands, Portals, Endpoints, Merged, bases, Index, Served} {
		if err := s.Files.Delete(ctx, Key(mode, v, file)); err != nil {
			return fmt.Errorf("delete %s of %s: %w", file, v, err)
		}
	}
	return nil
}
