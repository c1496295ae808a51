package s3

import (
	"fmt"
	"maps"
	"slices"
)

// Dump implements wire.Service, emitting the buckets, the objects and the uploads in progress. The dump omits object
// bodies, which stay in their files. If a file is missing, Dump returns an error that names the file.
func (s *Server) Dump(emit func(record any) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for id, owner := range s.state.blobs() {
		if place, err := s.blobs.find(id); err != nil {
			return fmt.Errorf("s3: the content of %s is not at %s (%w): put it back, or start with another -data folder",
				owner, place, err)
		}
	}
	for _, c := range s.state.changes() {
		if err := emit(c); err != nil {
			return err
		}
	}
	return nil
}

// changes returns the changes that turn an empty state into s.
func (s state) changes() []change {
	var all []change
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		b := s.buckets[name]
		all = append(all, change{Kind: bucketCreated, Bucket: name, At: b.created})
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
