package s3

import (
	"cmp"
	"maps"
	"slices"
)

// Dump implements wire.Service: the buckets, their objects, and the uploads in progress. The bodies stay where they
// are.
func (s *Server) Dump(emit func(record any) error, finish func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, c := range s.state.changes() {
		if err := emit(c); err != nil {
			return err
		}
	}
	return finish()
}

// changes are those that lead from nothing to the state.
func (s state) changes() []change {
	var all []change
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		b := s.buckets[name]
		all = append(all, change{Kind: bucketCreated, Bucket: name, At: b.created})
		if b.lifecycle != nil {
			all = append(all, change{Kind: lifecyclePut, Bucket: name, Lifecycle: b.lifecycle})
		}
		for _, key := range slices.Sorted(maps.Keys(b.objects)) {
			all = append(all, change{Kind: objectPut, Bucket: name, Keys: []string{key}, Object: b.objects[key]})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.uploads)) {
		u := s.uploads[id]
		all = append(all, change{Kind: uploadCreated, UploadID: id, Upload: u})
		for _, number := range slices.Sorted(maps.Keys(u.parts)) {
			all = append(all, change{Kind: partStored, UploadID: id, Number: number, Part: u.parts[number]})
		}
	}
	return all
}

// Missing is an object, or an upload in progress, whose body is not in the data folder.
type Missing struct {
	Bucket, Key string
	UploadID    string // "" for an object
	Body        string // name of the file that is not there
}

// Missing looks for the bodies of all objects and uploads, and names each of these at most once. It is for the time
// after Replay.
func (s *Server) Missing() []Missing {
	dir, onDisk := s.blobs.(*dirBlobs)
	if !onDisk {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	there := map[string]bool{}
	for _, id := range dir.list() {
		there[id] = true
	}
	var missing []Missing
	for name, b := range s.state.buckets {
		for key, o := range b.objects {
			if !there[o.Blob] {
				missing = append(missing, Missing{Bucket: name, Key: key, Body: o.Blob + blobSuffix})
			}
		}
	}
	for id, u := range s.state.uploads {
		for _, number := range slices.Sorted(maps.Keys(u.parts)) {
			if part := u.parts[number]; !there[part.Blob] {
				missing = append(missing, Missing{Bucket: u.Bucket, Key: u.Key, UploadID: id, Body: part.Blob + blobSuffix})
				break
			}
		}
	}
	slices.SortFunc(missing, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Key, b.Key), cmp.Compare(a.UploadID, b.UploadID))
	})
	return missing
}

// Forget deletes an object, or aborts an upload, without its body.
func (s *Server) Forget(m Missing) error {
	return s.update(func(state) (change, error) {
		if m.UploadID != "" {
			return change{Kind: uploadAborted, UploadID: m.UploadID}, nil
		}
		return change{Kind: objectsDeleted, Bucket: m.Bucket, Keys: []string{m.Key}}, nil
	})
}
