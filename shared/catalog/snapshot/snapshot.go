// Package snapshot owns the catalogue's files (docs/adr/0023-the-catalogue.md): the objects of a version, which
// are written once and never change, what is in them byte by byte, and how a version is named. Which version is
// live is ledger.Pointer's.
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

// Snapshots are the versions in a bucket.
type Snapshots struct{ Files Files }

// Files keeps objects.
type Files interface {
	// Write makes an object of what write writes, in bounded memory; none when write or the context fails.
	Write(ctx context.Context, key, contentType string, write func(io.Writer) error) error
	// Open reads one; fault.NotFound.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete removes one, if it is there.
	Delete(ctx context.Context, key string) error
}

// The files of a version. The first three are what organisations get: a JSON object each, from id to
// record, a record a line.
const (
	Brands    = "brands.json"
	Portals   = "portals.json"
	Endpoints = "endpoints.json"
	Merged    = "merged.json" // from the id of a merged record to that of its successor
	bases     = "bases.json"  // from the id of an endpoint to its FHIR base, which is no organisation's business
	Index     = "index"
	Served    = "served" // which endpoints serve which brand
)

// contentType is that of a file.
func contentType(file string) string {
	if file == Index || file == Served {
		return "application/octet-stream"
	}
	return "application/json"
}

// Key names an object of a version.
func Key(mode string, v ledger.Version, file string) string {
	return "snapshots/" + mode + "/" + string(v) + "/" + file
}

// Name is the version that a catalogue is at a time. Catalogues that are equal have the same Hash.
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

// Write writes a catalogue of a mode as the version that Name calls it. One that broke off is written again as a whole.
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

// Catalog reads the records of a version; fault.NotFound.
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

// Delete removes what there is of a version.
func (s Snapshots) Delete(ctx context.Context, mode string, v ledger.Version) error {
	for _, file := range []string{Brands, Portals, Endpoints, Merged, bases, Index, Served} {
		if err := s.Files.Delete(ctx, Key(mode, v, file)); err != nil {
			return fmt.Errorf("delete %s of %s: %w", file, v, err)
		}
	}
	return nil
}
