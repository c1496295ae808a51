package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/catalog/health"
)

// maxFiles is the maximum number of objects of each type on disk. The limit suffices for both modes' live objects and
// for older objects that later search pages may need.
const maxFiles = 5

// Files caches immutable objects on disk, so each is downloaded once. After a disk error, the object is downloaded
// again.
type Files struct {
	Objects Objects
	Dir     string // directory used only by this process; created if missing
}

// Read passes an object's content to the function read, from disk if the object is cached. It returns any error from
// read or from opening the object, such as fault.NotFound.
func (f Files) Read(ctx context.Context, kind, key string, read func(io.Reader) error) error {
	path := f.path(kind, key)
	if file, err := os.Open(path); err == nil { //nolint:gosec // G304: the name is a hash
		err = read(file)
		_ = file.Close() // The file was opened only for reading.
		if err == nil {
			return nil
		}
	}
	body, err := f.Objects.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // The object was opened only for reading.
	keep := f.create()
	if err := read(io.TeeReader(body, keep)); err != nil {
		keep.drop()
		return err
	}
	keep.as(path)
	f.prune(kind)
	return nil
}

// maxSummary is the maximum size of a health summary in bytes. A summary of all current endpoints has about 2 % of this
// size.
const maxSummary = 32 << 20

// health returns an Edition's health summary. It returns fault.NotFound if the summary does not exist.
func (f Files) health(ctx context.Context, mode string, e Edition) (health.Summary, error) {
	var summary health.Summary
	if e.Health == "" {
		return summary, nil
	}
	err := f.Read(ctx, "health", health.ObjectName(mode, e.Health), func(r io.Reader) error {
		document, err := io.ReadAll(io.LimitReader(r, maxSummary))
		if err != nil {
			return fmt.Errorf("read how endpoints fare: %w", err)
		}
		summary, err = health.ReadSummary(document)
		return err
	})
	return summary, err
}

func (f Files) path(kind, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(f.Dir, hex.EncodeToString(sum[:16])+"."+kind)
}

// prune removes the oldest cached files of one type.
func (f Files) prune(kind string) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return
	}
	type kept struct {
		name string
		at   time.Time
	}
	var all []kept
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), "."+kind) {
			all = append(all, kept{entry.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return b.at.Compare(a.at) })
	for _, old := range all[min(len(all), maxFiles):] {
		_ = os.Remove(filepath.Join(f.Dir, old.name)) // another request may already have removed the file
	}
}

// copied is a cache file that is being written. Write never fails, but an error causes the file to be discarded.
type copied struct {
	file *os.File
	err  error
}

func (f Files) create() *copied {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return &copied{err: err}
	}
	file, err := os.CreateTemp(f.Dir, "making-*")
	return &copied{file: file, err: err}
}

// Write implements io.Writer and never fails.
func (c *copied) Write(data []byte) (int, error) {
	if c.err == nil {
		_, c.err = c.file.Write(data)
	}
	return len(data), nil
}

// as atomically renames the file to path, so that a file at path is always complete.
func (c *copied) as(path string) {
	if c.file == nil {
		return
	}
	c.err = errors.Join(c.err, c.file.Close())
	if c.err == nil {
		c.err = os.Rename(c.file.Name(), path)
	}
	if c.err != nil {
		c.drop()
	}
}

func (c *copied) drop() {
	if c.file != nil {
		_ = c.file.Close()
		_ = os.Remove(c.file.Name())
	}
}
