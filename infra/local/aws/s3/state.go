package s3

import (
	"fmt"
	"time"
)

// state is the server's complete state, excluding bodies. Objects and parts are replaced, never modified, so they can
// be read without the lock once they have been looked up.
type state struct {
	buckets map[string]*bucket
	uploads map[string]*upload
}

type bucket struct {
	created time.Time
	objects map[string]*object
}

// content describes a stored body, which belongs to an object or to a part of an upload.
type content struct {
	Blob     string    `json:"blob"`
	Size     int64     `json:"size"`
	ETag     string    `json:"etag"` // entity tag, including the quotes
	Modified time.Time `json:"modified"`
	CRC      crc       `json:"crc32,omitempty"`
}

type object struct {
	content

	Headers map[string]string `json:"headers"`          // headers returned by reads; include content type and metadata
	Upload  string            `json:"upload,omitempty"` // ID of the multipart upload that created the object
}

type upload struct {
	Bucket  string            `json:"bucket"`
	Key     string            `json:"key"`
	Headers map[string]string `json:"headers"`
	// true if each part has a CRC32 and the object has a composite checksum
	Checked bool `json:"checked,omitempty"`
	parts   map[int]content
}

const (
	bucketCreated   = "bucket_created"
	objectPut       = "object_put"
	objectsDeleted  = "objects_deleted"
	uploadCreated   = "upload_created"
	partStored      = "part_stored"
	uploadCompleted = "upload_completed"
	uploadAborted   = "upload_aborted"
)

// change is a committed change and its journal record. Kind determines which fields are set.
type change struct {
	Kind     string    `json:"kind"`
	Bucket   string    `json:"bucket,omitempty"`
	Keys     []string  `json:"keys,omitempty"`
	Object   *object   `json:"object,omitempty"`
	UploadID string    `json:"upload_id,omitempty"`
	Upload   *upload   `json:"upload,omitempty"`
	Number   int       `json:"number,omitempty"` // part number
	Part     content   `json:"part,omitzero"`
	At       time.Time `json:"at,omitzero"`
}

func newState() state {
	return state{buckets: map[string]*bucket{}, uploads: map[string]*upload{}}
}

// apply applies a live or replayed change, and returns the IDs of the orphaned bodies.
func (s state) apply(c change) (garbage []string, err error) {
	switch c.Kind {
	case bucketCreated:
		s.buckets[c.Bucket] = &bucket{created: c.At, objects: map[string]*object{}}
		return nil, nil
	case uploadCreated, partStored, uploadAborted:
		return s.applyToUpload(c)
	}
	b, err := s.bucket(c.Bucket)
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", c.Kind, err)
	}
	switch c.Kind {
	case objectsDeleted:
		for _, key := range c.Keys {
			garbage = append(garbage, b.drop(key)...)
		}
	case objectPut, uploadCompleted:
		if c.Object == nil || len(c.Keys) != 1 {
			return nil, fmt.Errorf("apply %s: no object or no key", c.Kind)
		}
		garbage = append(b.drop(c.Keys[0]), s.dropUpload(c.UploadID)...)
		b.objects[c.Keys[0]] = c.Object
	default:
		return nil, fmt.Errorf("apply: unknown change %q", c.Kind)
	}
	return garbage, nil
}

func (s state) applyToUpload(c change) (garbage []string, err error) {
	if c.Kind == uploadCreated {
		if c.Upload == nil {
			return nil, fmt.Errorf("apply %s: no upload", c.Kind)
		}
		c.Upload.parts = map[int]content{}
		s.uploads[c.UploadID] = c.Upload
		return nil, nil
	}
	u, ok := s.uploads[c.UploadID]
	if !ok {
		return nil, fmt.Errorf("apply %s: no such upload", c.Kind)
	}
	if c.Kind == uploadAborted {
		return s.dropUpload(c.UploadID), nil
	}
	if old, replaced := u.parts[c.Number]; replaced {
		garbage = []string{old.Blob}
	}
	u.parts[c.Number] = c.Part
	return garbage, nil
}

// dropUpload removes an upload, if it exists, and returns the IDs of its parts' bodies.
func (s state) dropUpload(id string) (garbage []string) {
	if u, ok := s.uploads[id]; ok {
		for _, part := range u.parts {
			garbage = append(garbage, part.Blob)
		}
		delete(s.uploads, id)
	}
	return garbage
}

func (b *bucket) drop(key string) (garbage []string) {
	if old, ok := b.objects[key]; ok {
		garbage = []string{old.Blob}
		delete(b.objects, key)
	}
	return garbage
}

func (s state) bucket(name string) (*bucket, error) {
	b, ok := s.buckets[name]
	if !ok {
		return nil, refuse("NoSuchBucket", "the specified bucket does not exist").with("BucketName", name)
	}
	return b, nil
}

func (s state) object(bucket, key string) (*object, error) {
	b, err := s.bucket(bucket)
	if err != nil {
		return nil, err
	}
	o, ok := b.objects[key]
	if !ok {
		return nil, errNoSuchKey(key)
	}
	return o, nil
}

// upload returns the upload in progress that r identifies. If the upload's bucket or key differs from the request's,
// upload returns NoSuchUpload.
func (s state) upload(r *request) (*upload, error) {
	if _, err := s.bucket(r.bucket); err != nil {
		return nil, err
	}
	id := r.query.Get("uploadId")
	u, ok := s.uploads[id]
	if !ok || u.Bucket != r.bucket || u.Key != r.key {
		return nil,
			refuse("NoSuchUpload", "the upload does not exist: it may have been aborted or completed").with("UploadId", id)
	}
	return u, nil
}

// blobs maps each body's ID to "bucket/key". For a part of an upload, the value names the object that the upload will
// create.
func (s state) blobs() map[string]string {
	owners := map[string]string{}
	for name, b := range s.buckets {
		for key, o := range b.objects {
			owners[o.Blob] = name + "/" + key
		}
	}
	for _, u := range s.uploads {
		for _, part := range u.parts {
			owners[part.Blob] = u.Bucket + "/" + u.Key
		}
	}
	return owners
}
