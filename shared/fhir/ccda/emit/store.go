package emit

import (
	"iter"
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// Store holds resources in insertion order, indexed by "Type/id". With a Packer, resources are packed while not in use,
// so a pointer to a resource is valid only until the next call to Pack.
type Store struct {
	packer *r4.Packer // nil if resources are never packed
	slots  []slot
	index  map[string]int32
	fresh  []int32 // slots that hold unpacked facts
}

// slot holds a resource as a struct or in packed form.
type slot struct {
	name     string // "Type/id"
	resource r4.Resource
	packed   []byte
}

// NewStore returns an empty store, which packs resources if packer is not nil.
func NewStore(packer *r4.Packer) *Store { return &Store{packer: packer, index: map[string]int32{}} }

// Len returns the number of resources.
func (s *Store) Len() int { return len(s.slots) }

// Name returns the "Type/id" of the resource at the given position.
func (s *Store) Name(at int32) string { return s.slots[at].name }

// Type returns the type of the resource at the given position.
func (s *Store) Type(at int32) string {
	kind, _, _ := strings.Cut(s.slots[at].name, "/")
	return kind
}

// Names iterates over the "Type/id" of every resource.
func (s *Store) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range s.slots {
			if !yield(s.slots[i].name) {
				return
			}
		}
	}
}

// Find returns the position of the resource with the given "Type/id".
func (s *Store) Find(name string) (at int32, ok bool) {
	at, ok = s.index[name]
	return at, ok
}

// Get returns a resource for reading or modification.
func (s *Store) Get(at int32) r4.Resource {
	slot := &s.slots[at]
	if slot.resource == nil {
		slot.resource, slot.packed = s.packer.Unpack(slot.packed), nil
		s.fresh = append(s.fresh, at)
	}
	return slot.resource
}

// See returns a resource for reading only. If the resource is packed, See decodes a copy and leaves the resource
// packed.
func (s *Store) See(at int32) r4.Resource {
	if slot := &s.slots[at]; slot.resource == nil {
		return s.packer.Unpack(slot.packed)
	}
	return s.slots[at].resource
}

// Set replaces a resource.
func (s *Store) Set(at int32, r r4.Resource) {
	s.Get(at) // marks the resource for later packing
	s.slots[at].resource = r
}

// Add adds a resource whose name is not in the store yet. If the resource represents a fact, the next call of Pack
// packs it. Entities are not packed, because many facts refer to them.
func (s *Store) Add(name string, r r4.Resource, isFact bool) int32 {
	at := int32(len(s.slots)) //nolint:gosec // the size of a document bounds it
	s.index[name] = at
	s.slots = append(s.slots, slot{name: name, resource: r})
	if isFact && s.packer != nil {
		s.fresh = append(s.fresh, at)
	}
	return at
}

// Move adds a resource from another store that has the same Packer. The other store must not be used afterwards.
func (s *Store) Move(from *Store, at int32) {
	s.index[from.slots[at].name] = int32(len(s.slots)) //nolint:gosec // as above
	s.slots = append(s.slots, from.slots[at])
}

// Pack packs the facts that were added or used since the last call.
func (s *Store) Pack() {
	for _, at := range s.fresh {
		s.pack(at)
	}
	s.fresh = s.fresh[:0]
}

// PackAll packs all resources.
func (s *Store) PackAll() {
	if s.packer == nil {
		return
	}
	for at := range s.slots {
		s.pack(int32(at))
	}
	s.fresh = nil
}

// Take returns a resource and removes it from memory. The resource must not be requested again.
func (s *Store) Take(at int32) r4.Resource {
	r := s.Get(at)
	s.slots[at], s.fresh = slot{}, nil
	return r
}

func (s *Store) pack(at int32) {
	if slot := &s.slots[at]; slot.resource != nil {
		slot.packed, slot.resource = s.packer.Pack(slot.resource), nil
	}
}
