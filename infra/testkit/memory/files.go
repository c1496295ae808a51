package memory

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

// Files stores objects in memory. An object does not exist until its writer is closed. Files implements export.Files.
// The zero value is empty.
type Files struct {
	mu      sync.Mutex
	objects map[string][]byte
	begun   int // number of writers that are neither closed nor aborted
}

// Create implements export.Files.
func (f *Files) Create(_ context.Context, key, _ string) (export.Writer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun++
	return &upload{files: f, key: key}, nil
}

// Write implements snapshot.Files.
func (f *Files) Write(ctx context.Context, key, contentType string, write func(io.Writer) error) error {
	object, err := f.Create(ctx, key, contentType)
	if err != nil {
		return err
	}
	if err := write(object); err != nil {
		object.Abort(ctx)
		return err
	}
	return object.Close(ctx)
}

// Open implements export.Files.
func (f *Files) Open(_ context.Context, key string) (io.ReadCloser, error) {
	body, ok := f.Get(key)
	if !ok {
		return nil, fault.Missing("no object")
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

// Compose implements export.Files.
func (f *Files) Compose(_ context.Context, key, _ string, parts []string) error {
	var whole []byte
	for _, part := range parts {
		body, ok := f.Get(part)
		if !ok {
			return fault.Missing("no part")
		}
		whole = append(whole, body...)
	}
	f.Put(key, whole)
	return nil
}

// Delete implements export.Files.
func (f *Files) Delete(ctx context.Context, key string) error {
	if err := over(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.objects, key)
	return nil
}

// Keys returns the sorted keys of all objects.
func (f *Files) Keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.objects))
}

// Unfinished returns the number of objects that were created but neither closed nor aborted.
func (f *Files) Unfinished() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begun
}

// Get returns an object's content.
func (f *Files) Get(key string) (body []byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, ok = f.objects[key]
	return body, ok
}

// Put stores an object.
func (f *Files) Put(key string, body []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.objects == nil {
		f.objects = map[string][]byte{}
	}
	f.objects[key] = body
}

// upload is an object that is being written.
type upload struct {
	files *Files
	key   string
	body  bytes.Buffer
	mark  int
	ended bool
}

func (u *upload) Write(p []byte) (int, error) {
	_, _ = u.body.Write(p) // never fails
	return len(p), nil
}

func (u *upload) Mark() { u.mark = u.body.Len() }

func (u *upload) Rewind(context.Context) error {
	u.body.Truncate(u.mark)
	return nil
}

func (u *upload) Close(ctx context.Context) error {
	u.end()
	if err := over(ctx); err != nil {
		return err
	}
	u.files.Put(u.key, u.body.Bytes())
	return nil
}

func (u *upload) Abort(context.Context) { u.end() }

func (u *upload) end() {
	u.files.mu.Lock()
	defer u.files.mu.Unlock()
	if !u.ended {
		u.ended = true
		u.files.begun--
	}
}
