package s3

import (
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type objectOperations struct{ *ledger }

func (s objectOperations) putObject(w http.ResponseWriter, r *request) error {
	headers, err := storedHeaders(r.Header)
	if err != nil {
		return err
	}
	if err = s.requireBucket(r.bucket); err != nil {
		return err
	}
	body, err := s.receive(r)
	if err != nil {
		return err
	}
	err = s.update(func(st state) (change, error) {
		o := &object{content: body, Headers: headers}
		b, refused := st.bucket(r.bucket)
		if refused == nil && r.Header.Get("If-None-Match") != "" && b.objects[r.key] != nil {
			refused = errPrecondition("If-None-Match")
		}
		return change{Kind: objectPut, Bucket: r.bucket, Keys: []string{r.key}, Object: o}, refused
	})
	if err != nil {
		s.blobs.remove(body.Blob)
		return err
	}
	w.Header().Set("ETag", body.ETag)
	body.CRC.setHeaders(w.Header())
	setEncryption(w.Header())
	w.WriteHeader(http.StatusOK)
	return nil
}

// getObject also serves HeadObject, whose response differs only in having no body.
func (s objectOperations) getObject(w http.ResponseWriter, r *request) error {
	o, body, err := s.openObject(r.bucket, r.key)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	h := w.Header()
	h.Set("ETag", o.ETag)
	h.Set("Last-Modified", o.Modified.UTC().Format(http.TimeFormat))
	h.Set("Accept-Ranges", "bytes")
	if tags := r.Header.Get("If-Match"); tags != "" && !matches(tags, o.ETag) {
		return errPrecondition("If-Match")
	}
	part, partial, err := parseRange(r.Header.Get("Range"), o.Size)
	if err != nil {
		h.Set("Content-Range", "bytes */"+strconv.FormatInt(o.Size, 10))
		return err
	}
	if _, err := body.Seek(part.start, io.SeekStart); err != nil {
		return err
	}
	for name, value := range o.Headers {
		h.Set(name, value)
	}
	setEncryption(h)
	for name := range r.query {
		if header, ok := overrideHeader(name); ok {
			h.Set(header, r.query.Get(name))
		}
	}
	status := http.StatusOK
	if partial {
		status = http.StatusPartialContent
		h.Set("Content-Range", part.contentRange(o.Size))
	} else if strings.EqualFold(r.Header.Get("X-Amz-Checksum-Mode"), "ENABLED") {
		o.CRC.setHeaders(h)
	}
	h.Set("Content-Length", strconv.FormatInt(part.length, 10))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = io.CopyN(w, body, part.length) // on error, the client has disconnected or will notice the short body
	}
	return nil
}

// openObject opens an object's body under the lock, so that no other call can replace or remove it first.
func (l *ledger) openObject(bucket, key string) (*object, io.ReadSeekCloser, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	o, err := l.state.object(bucket, key)
	if err != nil {
		return nil, nil, err
	}
	body, err := l.blobs.open(o.Blob)
	return o, body, err
}

// view calls f with the state. f must not modify the state.
func (l *ledger) view(f func(state) error) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return f(l.state)
}

// deleteObject deletes an object. If the key does not exist, deleteObject succeeds, as S3 does, without writing a
// journal record.
func (s objectOperations) deleteObject(w http.ResponseWriter, r *request) error {
	err := s.update(func(st state) (change, error) {
		b, err := st.bucket(r.bucket)
		if err == nil && b.objects[r.key] == nil {
			err = errNothing
		}
		return change{Kind: objectsDeleted, Bucket: r.bucket, Keys: []string{r.key}}, err
	})
	if err != nil && !errors.Is(err, errNothing) {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// errNothing makes update skip a change that would have no effect.
var errNothing = errors.New("nothing to change")

// receive streams r's body into a blob and verifies it.
func (l *ledger) receive(r *request) (content, error) {
	p, err := openPayload(r)
	if err != nil {
		return content{}, err
	}
	id, err := l.blobs.write(p.size, p.copyTo)
	if err != nil {
		return content{}, err
	}
	return content{Blob: id, Size: p.size, ETag: etag(p.md5.Sum(nil)), Modified: now(), CRC: p.declared}, nil
}

func etag(md5Sum []byte) string { return `"` + hex.EncodeToString(md5Sum) + `"` }

// now returns the current time with the precision of S3's Last-Modified.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
