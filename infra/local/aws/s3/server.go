// Package s3 implements the embedded AWS's object store. It supports the S3 operations that Recordbridge's functions
// and the console call, with S3's checksum, multipart and precondition rules. Objects are stored in memory or in a
// directory. The request router must verify signatures before it calls this package. The package does not support
// versioning, tagging, access control lists, lifecycle rules, copying complete objects, conditional writes other than
// If-None-Match: *, or checksums other than CRC32. Requests for unsupported features receive NotImplemented. Buckets
// are addressed by path ("/bucket/key"). The router must not clean the path, because keys may contain "//" and "..".
package s3

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"recordbridge/infra/local/aws/wire"
)

const serviceName = "s3"

// Options configures the storage of a Server.
type Options struct {
	Dir     string       // directory for object bodies; if empty, bodies are stored in memory
	Journal wire.Journal // receives one record per committed change; nil means wire.Discard
}

// Server is an S3 server. A Server implements wire.Service and is safe for concurrent use.
type Server struct {
	*ledger

	handlers map[string]handler
	start    sync.Once
}

type ledger struct {
	blobs   blobStore
	journal wire.Journal

	mu    sync.RWMutex
	state state
}

// handler serves a single operation. A handler that returns an error must not have written a response, because its
// caller writes the error as XML.
type handler func(w http.ResponseWriter, r *request) error

// New returns a server that has no buckets. Pass the journal's records to Replay before serving the first call. New
// returns an error if Dir can't be created or opened.
func New(o Options) (*Server, error) {
	l := &ledger{blobs: &memoryBlobs{}, journal: cmp.Or[wire.Journal](o.Journal, wire.Discard{}), state: newState()}
	if o.Dir != "" {
		blobs, err := openDirBlobs(o.Dir)
		if err != nil {
			return nil, err
		}
		l.blobs = blobs
	}
	buckets, objects, uploads := bucketOperations{l}, objectOperations{l}, uploadOperations{l}
	return &Server{ledger: l, handlers: map[string]handler{
		"ListBuckets":             buckets.listBuckets,
		"CreateBucket":            buckets.createBucket,
		"ListObjectsV2":           buckets.listObjects,
		"PutObject":               objects.putObject,
		"GetObject":               objects.getObject,
		"HeadObject":              objects.getObject,
		"DeleteObject":            objects.deleteObject,
		"CreateMultipartUpload":   uploads.createUpload,
		"UploadPart":              uploads.uploadPart,
		"UploadPartCopy":          uploads.uploadPartCopy,
		"CompleteMultipartUpload": uploads.completeUpload,
		"AbortMultipartUpload":    uploads.abortUpload,
	}}, nil
}

// Name implements wire.Service.
func (s *Server) Name() string { return serviceName }

// Serve performs the operation named in c. The call's signature must already be verified.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, c wire.Call) {
	s.start.Do(s.removeStrays)
	w.Header().Set("X-Amz-Request-Id", rand.Text())
	if err := s.serve(w, r, c.Operation); err != nil {
		writeError(w, r, err)
	}
}

// Refuse writes an S3 error response with the given code for a call that does not reach Serve.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, code, message string) {
	w.Header().Set("X-Amz-Request-Id", rand.Text())
	writeError(w, r, refuse(code, "%s", message))
}

// Replay applies one change from the journal of an earlier run.
func (s *Server) Replay(record json.RawMessage) error {
	var c change
	if err := json.Unmarshal(record, &c); err != nil {
		return fmt.Errorf("s3: read a journal record: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Orphaned bodies are not deleted here, because removeStrays deletes all of them at once.
	_, err := s.state.apply(c)
	return err
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, operation string) error {
	handle, ok := s.handlers[operation]
	if !ok && operation == "" && notAllowed(r) {
		return refuse("MethodNotAllowed",
			"the specified method is not allowed against this resource").with("Method", r.Method)
	}
	if !ok {
		return refuse("NotImplemented", "the embedded S3 does not know this operation (%q)", operation)
	}
	req, err := newRequest(r)
	if err != nil {
		return err
	}
	return handle(w, req)
}

// update calls decide with the current state and commits the change that it returns. The change is journalled before it
// is applied, so that a restart can't lose a visible change. After the commit, update deletes the bodies that the
// change orphaned.
func (l *ledger) update(decide func(state) (change, error)) error {
	garbage, err := l.commit(decide)
	for _, id := range garbage {
		l.blobs.remove(id)
	}
	return err
}

func (l *ledger) commit(decide func(state) (change, error)) (garbage []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := decide(l.state)
	if err != nil {
		return nil, err
	}
	if err := l.journal.Append(serviceName, c); err != nil {
		return nil, fmt.Errorf("append to the journal: %w", err)
	}
	return l.state.apply(c)
}

// removeStrays deletes bodies that do not belong to any object or upload. A crash between writing a body and its
// journal record leaves an unreferenced body. removeStrays runs after the journal has been replayed and before the
// first call, when no body is being written.
func (l *ledger) removeStrays() {
	l.mu.RLock()
	defer l.mu.RUnlock()
	owners := l.state.blobs()
	for _, id := range l.blobs.list() {
		if _, owned := owners[id]; !owned {
			l.blobs.remove(id)
		}
	}
}
