// Package joint combines several networks into one. It routes requests to the network that reported a facility,
// tolerates failing networks, and selects one report if two networks report the same facility.
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

// Member is one of the networks to combine.
type Member struct {
	// Name is a fixed word that does not contain the separator. Facilities' identifiers for a person are stored with
	// Name as their prefix, so that later requests reach the same member. Changing a name invalidates stored
	// identifiers.
	Name    string
	Network tefca.Network
	// Places lists the facilities that the member serves. If the member fails, these facilities are reported as
	// Unanswered.
	Places []Place
}

// Place holds the directory details of a tefca.Facility.
type Place struct{ ID, Name, City, State string }

// Network is a tefca.FHIRNetwork that combines its members. If a member fails, OnFailure is called with the member's
// name and an error. The error contains no data about the person. If two members' reports about a facility are equally
// informative, the first member's report is used.
type Network struct {
	Members   []Member
	OnFailure func(ctx context.Context, member string, err error)
}

var _ tefca.FHIRNetwork = Network{}

// separator follows the member's name in a stored identifier.
const separator = "|"

// Locate implements tefca.Network by querying all members concurrently. Locate fails only if all members fail. It
// returns tefca.ErrIdentity only if all members reject the identity, because any other failure may be temporary.
func (n Network) Locate(ctx context.Context, who tefca.Assertion, found func(tefca.Facility) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := search{members: n.Members, found: found, stop: cancel, reports: map[string][]tefca.Facility{}}
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
		n.OnFailure(ctx, n.Members[i].Name, err)
		if err := s.miss(i); err != nil {
			return err
		}
	}
	return whole(failures)
}

// whole returns the combined error if all members failed, and nil otherwise.
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

type search struct {
	members []Member
	found   func(tefca.Facility) error
	stop    func()

	mu      sync.Mutex
	reports map[string][]tefca.Facility
	failure error
}

// take records a member's report about a facility. If the preferred report changes, take passes the new report to
// found.
func (s *search) take(member int, f tefca.Facility) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return s.failure
	}
	if f.Match == tefca.Found {
		f.Local = secret.New(s.members[member].Name + separator + f.Local.Reveal())
	}
	words := s.reports[f.ID]
	if words == nil {
		words = make([]tefca.Facility, len(s.members))
		s.reports[f.ID] = words
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

// miss reports a failed member's facilities if no member has reported them.
func (s *search) miss(member int) error {
	for _, p := range s.members[member].Places {
		if s.reports[p.ID] != nil {
			continue
		}
		silent := tefca.Facility{ID: p.ID, Name: p.Name, City: p.City, State: p.State, Match: tefca.Unanswered}
		if err := s.take(member, silent); err != nil {
			return err
		}
	}
	return nil
}

// best returns the index of the preferred report, which is the first of the most informative reports. It returns -1 if
// there is no report.
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

// of returns the member that reported a facility, and the facility with that member's identifiers.
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
