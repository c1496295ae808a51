package snapshot

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"recordbridge/shared/catalog/record"
)

type file struct {
	name  string
	write func(io.Writer) error
}

// files returns the files whose content determines a version's name. It omits Index and Served, which are derived from
// the other files.
func files(c record.Catalog) []file {
	return []file{
		{Brands, func(w io.Writer) error { return write(w, c.Brands) }},
		{Portals, func(w io.Writer) error { return write(w, c.Portals) }},
		{Endpoints, func(w io.Writer) error { return write(w, c.Endpoints) }},
		{Merged, func(w io.Writer) error { return write(w, c.Successors) }},
		{bases, func(w io.Writer) error {
			addresses := make(map[string]string, len(c.Endpoints))
			for id, e := range c.Endpoints {
				addresses[id] = e.FHIRBase
			}
			return write(w, addresses)
		}},
	}
}

// write encodes records as a JSON object with one record per line, sorted by ID. The output is deterministic.
func write[V any](w io.Writer, records map[string]V) error {
	out := bufio.NewWriter(w) // Flush returns the first write error
	before := "{\n"
	for _, id := range slices.Sorted(maps.Keys(records)) {
		name, err := json.Marshal(id)
		if err != nil {
			return fmt.Errorf("id %q: %w", id, err)
		}
		value, err := json.Marshal(records[id])
		if err != nil {
			return fmt.Errorf("record %s: %w", id, err)
		}
		_, _ = out.WriteString(before)
		_, _ = out.Write(append(append(name, ':'), value...))
		before = ",\n"
	}
	end := "\n}\n"
	if len(records) == 0 {
		end = "{}\n"
	}
	_, _ = out.WriteString(end)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}

// read decodes records written by write, without loading the whole file into memory.
func read[V any](ctx context.Context, s Snapshots, key string, into *map[string]V) error {
	body, err := s.Files.Open(ctx, key)
	if err != nil {
		return fmt.Errorf("open %s: %w", key, err)
	}
	defer body.Close()
	records := map[string]V{}
	lines := json.NewDecoder(bufio.NewReaderSize(body, 64<<10))
	if _, err := lines.Token(); err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	for lines.More() {
		id, err := lines.Token()
		if err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		var value V
		if err := lines.Decode(&value); err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		name, _ := id.(string) // always a string, because Token returns an object key here
		records[name] = value
	}
	if _, err := lines.Token(); err != nil { // Token fails if the file is truncated
		return fmt.Errorf("read %s: %w", key, err)
	}
	*into = records
	return nil
}
