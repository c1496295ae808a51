package main

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"os"
	"slices"

	"recordbridge/shared/fhir"
)

// manifestFile is a file in a manifest.
type manifestFile struct {
	Name        string `json:"name"`
	ContentType string `json:"content_type"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	Resources   int    `json:"resources"`
}

// verify checks the file in a folder. Resources are counted only after the file's digest has been verified. The memory
// used doesn't depend on the file's size, but on that of its largest resource.
func (f manifestFile) verify(root *os.Root, counts map[string]int) error {
	info, err := root.Stat(f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the file is missing")
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case info.Size() != f.Bytes:
		return fmt.Errorf("%d bytes, but the manifest lists %d", info.Size(), f.Bytes)
	}
	file, err := root.Open(f.Name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return err
	}
	if found := hex.EncodeToString(digest.Sum(nil)); found != f.SHA256 {
		return fmt.Errorf("the SHA-256 is %s, but the manifest lists %s", found, f.SHA256)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return f.verifyCounts(file, counts)
}

// verifyCounts compares the file's resources with the manifest's counts. Every file with resources contains the whole
// record.
func (f manifestFile) verifyCounts(content io.Reader, counts map[string]int) error {
	found, err := f.count(content)
	if err != nil {
		return fmt.Errorf("read the resources: %w", err)
	}
	total := 0
	for _, count := range found {
		total += count
	}
	if total != f.Resources {
		return fmt.Errorf("resources: %d, but the manifest lists %d", total, f.Resources)
	}
	if found == nil {
		return nil
	}
	for _, resourceType := range slices.Sorted(maps.Keys(merge(found, counts))) {
		if found[resourceType] != counts[resourceType] {
			return fmt.Errorf("resources of type %s: %d, but the manifest lists %d", resourceType, found[resourceType],
				counts[resourceType])
		}
	}
	return nil
}

func merge(a, b map[string]int) map[string]int {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// count counts the file's resources by type. It returns nil for a file that contains no resources.
func (f manifestFile) count(content io.Reader) (map[string]int, error) {
	mediaType, _, err := mime.ParseMediaType(f.ContentType)
	if err != nil {
		return nil, fmt.Errorf("content type %q: %w", f.ContentType, err)
	}
	content = bufio.NewReader(content)
	switch mediaType {
	case "application/fhir+ndjson":
		return countLines(content)
	case "application/gzip":
		plain, err := gzip.NewReader(content)
		if err != nil {
			return nil, err
		}
		return countLines(plain)
	case "application/fhir+json":
		return countEntries(content)
	case "application/json": // the outcome
		return nil, nil
	}
	return nil, fmt.Errorf("unknown content type %q", f.ContentType)
}

// resource holds the only member of a resource that counts. Resources of types that no FHIR release defines are counted
// together.
type resource struct {
	ResourceType string `json:"resourceType"`
}

func countLines(content io.Reader) (map[string]int, error) {
	counts, lines := map[string]int{}, json.NewDecoder(content)
	for {
		var one resource
		err := lines.Decode(&one)
		if errors.Is(err, io.EOF) {
			return counts, nil
		}
		if err != nil {
			return nil, err
		}
		counts[fhir.TypeName(one.ResourceType)]++
	}
}

// countEntries counts the resources of a Bundle.
func countEntries(content io.Reader) (map[string]int, error) {
	counts, tokens := map[string]int{}, json.NewDecoder(content)
	if _, err := tokens.Token(); err != nil { // {
		return nil, err
	}
	for tokens.More() {
		name, err := tokens.Token()
		if err != nil {
			return nil, err
		}
		if name != "entry" {
			if err := tokens.Decode(&json.RawMessage{}); err != nil {
				return nil, err
			}
			continue
		}
		if _, err := tokens.Token(); err != nil { // [
			return nil, err
		}
		for tokens.More() {
			var entry struct {
				Resource resource `json:"resource"`
			}
			if err := tokens.Decode(&entry); err != nil {
				return nil, err
			}
			counts[fhir.TypeName(entry.Resource.ResourceType)]++
		}
		if _, err := tokens.Token(); err != nil { // ]
			return nil, err
		}
	}
	_, err := tokens.Token() // }, which is missing if the Bundle is truncated
	return counts, err
}
