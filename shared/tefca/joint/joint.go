// Package joint asks several networks as if they were one. It owns which network a facility is of, which word counts
// where two networks tell of the same facility, and what becomes of a network that cannot be asked. It asks nobody
// itself and keeps nothing.
package joint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/secret"
)

// Member is one of the networks.
type Member struct {
	// Name is a word of ours, without a separator. It stands in front of how the member's facilities know the person, so
	// that the member is found again after the search; another name makes what was located of no use.
	Name    string
	Network tefca.Network
	// Places are the facilities that the member leads to: where it cannot be asked, they are told as Unanswered.
	Places []Place
}

// Place is a facility, as tefca.Facility has it.
type Place struct{ ID, Name, City, State string }

// Network is a tefca.FHIRNetwork of its members. Trouble is told of each member that could not be asked, by its name;
// the error tells nothing of the person. Members may be asked in any order: only where two have found the same
// facility, the first of them counts.
type Network struct {
	Members []Member
	Trouble func(ctx context.Context, member string, err error)
}

var _ tefca.FHIRNetwork = Network{}

// separator ends a member's name.
const separator = "|"

// Locate implements tefca.Network: all members are asked at once. It fails where all have failed: as one that does not
// accept the identity if that is so of all of them, for another may do better later.
func (n Network) Locate(ctx context.Context, who tefca.Assertion, found func(tefca.Facility) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := search{members: n.Members, found: found, stop: cancel, heard: map[string][]tefca.Facility{}}
	failures := make([]error, len(n.Members))
	var asking sync.WaitGroup
	for i, m := range n.Members {
		asking.Go(func() {
			failures[i] = m.Network.Locate(ctx, who, func(f tefca.Facility) error { return s.take(i, f) })
		})
	}
	asking.Wait()
	if s.failure != nil {
		return s.failure
	}
	for i, err := range failures {
		if err == nil {
			continue
		}
		n.Trouble(ctx, n.Members[i].Name, err)
		if err := s.miss(i); err != nil {
			return err
		}
	}
	return whole(failures)
}

// whole is the failure of all members together; nil where one has not failed.
func whole(failures []error) error {
	var other error
	for _, err := range failures {
		if err == nil {
			return nil
		}
		if !errors.Is(err, tefca.ErrIdentity) {
			other = err
		}
	}
	if other != nil {
		return fmt.Errorf("joint: no network could be asked: %w", other)
	}
	return errors.Join(failures...)
}

// search is one run of asking.
type search struct {
	members []Member
	found   func(tefca.Facility) error
	stop    func()

	mu      sync.Mutex
	heard   map[string][]tefca.Facility // by id, the last word of each member; without an id where it has said none
	failure error                       // found's
}

// take stores a member's word of a facility, and tells it if it counts.
func (s *search) take(member int, f tefca.Facility) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return s.failure
	}
	if f.Match == tefca.Found {
		f.Local = secret.New(s.members[member].Name + separator + f.Local.Reveal())
	}
	words := s.heard[f.ID]
	if words == nil {
		words = make([]tefca.Facility, len(s.members))
		s.heard[f.ID] = words
	}
	before := best(words)
	words[member] = f
	if now := best(words); now == member || now != before {
		if s.failure = s.found(words[now]); s.failure != nil {
			s.stop()
		}
	}
	return s.failure
}

// miss tells that a member has failed of those of its places that nothing was heard of.
func (s *search) miss(member int) error {
	for _, p := range s.members[member].Places {
		if s.heard[p.ID] != nil {
			continue
		}
		silent := tefca.Facility{ID: p.ID, Name: p.Name, City: p.City, State: p.State, Match: tefca.Unanswered}
		if err := s.take(member, silent); err != nil {
			return err
		}
	}
	return nil
}

// best is the member whose word of a facility counts: what says more, or stands first; -1 for nobody's.
func best(words []tefca.Facility) int {
	at, most := -1, 0
	for i, f := range words {
		if weight := map[tefca.Match]int{tefca.Found: 3, tefca.Ambiguous: 2, tefca.Unanswered: 1}[f.Match]; weight > most {
			at, most = i, weight
		}
	}
	return at
}

// Documents implements tefca.Network.
func (n Network) Documents(ctx context.Context, who tefca.Assertion, at tefca.Facility) ([]tefca.Document, error) {
	network, at, err := n.of(at)
	if err != nil {
		return nil, err
	}
	return network.Documents(ctx, who, at)
}

// Retrieve implements tefca.Network.
func (n Network) Retrieve(ctx context.Context, who tefca.Assertion, at tefca.Facility, document tefca.Document,
	limit int64,
) ([]byte, error) {
	network, at, err := n.of(at)
	if err != nil {
		return nil, err
	}
	return network.Retrieve(ctx, who, at, document, limit)
}

// Open implements tefca.FHIRNetwork.
func (n Network) Open(ctx context.Context, who tefca.Assertion, at tefca.Facility) (tokens.Set, error) {
	network, at, err := n.of(at)
	if err != nil {
		return tokens.Set{}, err
	}
	opener, ok := network.(tefca.FHIRNetwork)
	if !ok {
		return tokens.Set{}, fmt.Errorf("joint: the facility has no FHIR: %w", tefca.ErrRefused)
	}
	return opener.Open(ctx, who, at)
}

// of finds the member that has told of a facility, and the facility as the member knows it.
func (n Network) of(at tefca.Facility) (tefca.Network, tefca.Facility, error) {
	name, local, named := strings.Cut(at.Local.Reveal(), separator)
	for _, m := range n.Members {
		if named && m.Name == name {
			at.Local = secret.New(local)
			return m.Network, at, nil
		}
	}
	return nil, at, fmt.Errorf("joint: a facility of no network: %w", tefca.ErrRefused)
}
