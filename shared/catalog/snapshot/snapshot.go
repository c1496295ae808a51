// Package snapshot stores catalogue versions as files (docs/adr/0023-the-catalogue.md). It defines each version's
// objects, their exact content and the version's name. Objects are written once and never change. ledger.Pointer
// selects the live version.
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

// Snapshots stores catalogue versions in a bucket.
type Snapshots struct{ Files Files }

// Files is an object store.
type Files interface {
	// Write streams the output of write to an object, using bounded memory. If write fails or ctx is done, Write does
	// not create the object.
	Write(ctx context.Context, key, contentType string, write func(io.Writer) error) error
	// Open opens an object for reading. It returns fault.NotFound if the object does not exist.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete deletes an object if it exists.
	Delete(ctx context.Context, key string) error
}

// Names of a version's files. Brands, Portals and Endpoints are available to organisations. Each .json file contains a
// JSON object keyed by ID, with one entry per line.
const (
	Brands    = "brands.json"
	Portals   = "portals.json"
	Endpoints = "endpoints.json"
	Merged    = "merged.json" // maps a merged record's ID to its successor's ID
	bases     = "bases.json"  // maps endpoint IDs to FHIR base URLs; not available to organisations
	Index     = "index"
	Served    = "served" // maps brands to the endpoints that serve their patients
)

func contentType(file string) string {
	if file == Index || file == Served {
		return "application/octet-stream"
	}
	return "application/json"
}

// Key returns the object key of a version's file.
func Key(mode string, v ledger.Version, file string) string {
	return "snapshots/" + mode + "/" + string(v) + "/" + file
}

// Name returns the version for a catalogue created at the given time. Equal catalogues produce versions with the same
// Hash.
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

// Write stores a mode's catalogue under the version that Name returns. After an interruption, the caller must repeat
// the entire write.
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

// Catalog reads the records of a catalogue version. It returns fault.NotFound if the version does not exist.
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

// Delete deletes a version's objects. It ignores objects that do not exist.
func (s Snapshots) Delete(ctx context.Context, mode string, v ledger.Version) error {
	for _, file := range []string{Brands, Portals, Endpoints, Merged, bases, Index, Served} {
		if err := s.Files.Delete(ctx, Key(mode, v, file)); err != nil {
			return fmt.Errorf("delete %s of %s: %w", file, v, err)
		}
	}
	return nil
}
