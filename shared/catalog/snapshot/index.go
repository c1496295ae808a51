package snapshot

import (
	"context"
	"fmt"
	"io"

	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/served"
)

func indexOf(c record.Catalog) file {
	return file{Index, func(w io.Writer) error {
		built, err := search.Build(search.Entries(c))
		if err != nil {
			return err
		}
		return built.Write(w)
	}}
}

// servedOf returns the file that maps brands to their endpoints, with which searches demote brands whose endpoints are
// down.
func servedOf(c record.Catalog) file { return file{Served, served.Of(c).Write} }

// Index reads a version's search index. It returns fault.NotFound if the index does not exist.
func (s Snapshots) Index(ctx context.Context, mode string, v ledger.Version) (*search.Index, error) {
	body, err := s.Files.Open(ctx, Key(mode, v, Index))
	if err != nil {
		return nil, fmt.Errorf("open the index of %s: %w", v, err)
	}
	defer body.Close()
	read, err := search.Read(body)
	if err != nil {
		return nil, fmt.Errorf("index of %s: %w", v, err)
	}
	return read, nil
}
