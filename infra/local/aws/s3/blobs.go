package s3

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// blobSuffix marks this package's files, so that orphan deletion in the wrong directory can't delete other files.
const blobSuffix = ".object"

// maxReserved is the maximum number of bytes reserved for a body based on the size that the sender declares.
const maxReserved = 64 << 20

// blobStore stores object bodies under random IDs. A body never changes once written.
type blobStore interface {
	// write stores the bytes written by fill. expected is a hint for their number. If fill fails, write stores nothing.
	write(expected int64, fill func(io.Writer) error) (id string, err error)
	// open opens a body for reading. A body may be removed while it is being read.
	open(id string) (io.ReadSeekCloser, error)
	remove(id string)
	// find returns a body's location, or an error if the body does not exist.
	find(id string) (place string, err error)
	list() []string
}

// dirBlobs stores each body in a file. If a file can't be removed, the next start deletes it.
type dirBlobs struct {
	root *os.Root
}

func openDirBlobs(dir string) (*dirBlobs, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("s3: make the data folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("s3: open the data folder: %w", err)
	}
	return &dirBlobs{root: root}, nil
}

func (d *dirBlobs) write(_ int64, fill func(io.Writer) error) (string, error) {
	id := rand.Text()
	file, err := d.root.OpenFile(id+blobSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("create a body: %w", err)
	}
	err = fill(file)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		d.remove(id)
		return "", err
	}
	return id, nil
}

func (d *dirBlobs) open(id string) (io.ReadSeekCloser, error) {
	file, err := d.root.Open(id + blobSuffix)
	if err != nil {
		return nil, fmt.Errorf("open a body: %w", err)
	}
	return file, nil
}

func (d *dirBlobs) remove(id string) { _ = d.root.Remove(id + blobSuffix) }

func (d *dirBlobs) find(id string) (string, error) {
	_, err := d.root.Stat(id + blobSuffix)
	return filepath.Join(d.root.Name(), id+blobSuffix), err
}

func (d *dirBlobs) list() []string {
	dir, err := d.root.Open(".")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1) // if an error occurs, the next start deletes the remaining files
	var ids []string
	for _, name := range names {
		if id, ours := strings.CutSuffix(name, blobSuffix); ours {
			ids = append(ids, id)
		}
	}
	return ids
}

// memoryBlobs stores bodies in memory for servers without a directory.
type memoryBlobs struct {
	bodies sync.Map // []byte by ID
}

// memoryBody adds a no-op Close method to bytes.Reader.
type memoryBody struct {
	*bytes.Reader
}

func (memoryBody) Close() error { return nil }

func (m *memoryBlobs) write(expected int64, fill func(io.Writer) error) (string, error) {
	var body bytes.Buffer
	body.Grow(int(min(max(expected, 0), maxReserved)))
	if err := fill(&body); err != nil {
		return "", err
	}
	id := rand.Text()
	m.bodies.Store(id, body.Bytes())
	return id, nil
}

func (m *memoryBlobs) open(id string) (io.ReadSeekCloser, error) {
	value, ok := m.bodies.Load(id)
	body, isBytes := value.([]byte)
	if !ok || !isBytes {
		return nil, fmt.Errorf("open a body: %w", os.ErrNotExist)
	}
	return memoryBody{bytes.NewReader(body)}, nil
}

func (m *memoryBlobs) remove(id string) { m.bodies.Delete(id) }

func (m *memoryBlobs) find(id string) (string, error) {
	if _, ok := m.bodies.Load(id); !ok {
		return "memory", os.ErrNotExist
	}
	return "memory", nil
}

// list returns nil, because an in-memory store can't contain orphans from an earlier run.
func (m *memoryBlobs) list() []string { return nil }
