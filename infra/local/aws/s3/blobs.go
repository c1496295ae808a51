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

// blobSuffix marks our files, so that a directory chosen by mistake loses nothing when strays are removed.
const blobSuffix = ".object"

// maxReserved bounds the memory that is set aside for a body because of what its sender says about its size.
const maxReserved = 64 << 20

// blobStore keeps bodies under random ids. A body never changes once it is written.
type blobStore interface {
	// write stores what fill writes, which is expected to be so many bytes; when fill fails nothing stays behind.
	write(expected int64, fill func(io.Writer) error) (id string, err error)
	// open reads a body; one that is being read survives its own removal.
	open(id string) (io.ReadSeekCloser, error)
	remove(id string)
	// find returns the place of a body, and an error when it is not there.
	find(id string) (place string, err error)
	list() []string
}

// dirBlobs keeps each body in a file. A file that could not be removed is a stray and goes at the next start.
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
	names, _ := dir.Readdirnames(-1) // what cannot be listed is looked for again at the next start
	var ids []string
	for _, name := range names {
		if id, ours := strings.CutSuffix(name, blobSuffix); ours {
			ids = append(ids, id)
		}
	}
	return ids
}

// memoryBlobs keeps bodies for a run that leaves nothing behind.
type memoryBlobs struct {
	bodies sync.Map // id to []byte
}

// memoryBody adds Close to the reader of a body.
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

// list is empty: memory has no strays from an earlier life.
func (m *memoryBlobs) list() []string { return nil }
