package joint_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/joint"
	"recordbridge/shared/words/secret"
)

var errOurs = errors.New("the store is down")

// network reports one facility per second. If configured to fail, it fails after its last report.
type network struct {
	tefca.Network

	delay time.Duration
	words []string // reports in the form "id match local"
	fails error
	asked *[]string
}

func (n network) Locate(ctx context.Context, _ tefca.Assertion, found func(tefca.Facility) error) error {
	for i, word := range n.words {
		select {
		case <-time.After(n.delay + time.Duration(i)*time.Second):
		case <-ctx.Done():
			return tefca.ErrUnavailable
		}
		said := strings.Split(word, " ")
		f := tefca.Facility{ID: said[0], Match: tefca.Match(said[1])}
		if len(said) > 2 {
			f.Local = secret.New(said[2])
		}
		if err := found(f); err != nil {
			return err
		}
	}
	return n.fails
}

func (n network) Documents(_ context.Context, _ tefca.Assertion, at tefca.Facility) ([]tefca.Document, error) {
	*n.asked = append(*n.asked, "list "+at.ID+" by "+at.Local.Reveal())
	return nil, nil
}

func (n network) Retrieve(_ context.Context, _ tefca.Assertion, at tefca.Facility, d tefca.Document,
	limit int64,
) ([]byte, error) {
	*n.asked = append(*n.asked, fmt.Sprintf("read %s of %s by %s, %d", d.ID, at.ID, at.Local.Reveal(), limit))
	return nil, nil
}

// server is a network that also supports FHIR.
type server struct{ network }

func (s server) Open(_ context.Context, _ tefca.Assertion, at tefca.Facility) (tokens.Set, error) {
	*s.asked = append(*s.asked, "open "+at.ID+" by "+at.Local.Reveal())
	return tokens.Set{Scope: "s"}, nil
}

type search struct {
	last    map[string]tefca.Facility
	trouble []string
}

func locate(t *testing.T, found func(tefca.Facility) error, members ...joint.Member) (s search, err error) {
	t.Helper()
	s.last = map[string]tefca.Facility{}
	var one sync.Mutex
	err = joint.Network{Members: members, OnFailure: func(_ context.Context, member string, err error) {
		s.trouble = append(s.trouble, member+": "+tefca.ClassOf(err))
	}}.Locate(t.Context(), tefca.Assertion{}, func(f tefca.Facility) error {
		if !one.TryLock() {
			t.Error("two calls at a time")
		}
		defer one.Unlock()
		s.last[f.ID] = f
		return found(f)
	})
	return s, err
}

func all(tefca.Facility) error { return nil }

func (s search) words() []string {
	words := make([]string, 0, len(s.last))
	for id, f := range s.last {
		words = append(words, strings.TrimSpace(id+" "+string(f.Match)+" "+f.Local.Reveal()))
	}
	slices.Sort(words)
	return words
}

// TestLocateResultDoesNotDependOnMemberOrder checks that the order in which the members respond doesn't affect the
// result.
func TestLocateResultDoesNotDependOnMemberOrder(t *testing.T) {
	t.Parallel()
	want := []string{
		"a found one|1", "b found two|2", "both found one|3", "changed ambiguous", "doubt ambiguous", "silent unanswered",
		"withdrawn ambiguous",
	}
	for _, delay := range []time.Duration{0, 90 * time.Millisecond, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			got, err := locate(t, all,
				joint.Member{Name: "one", Network: network{
					delay: delay,
					words: []string{
						"a found 1", "both found 3", "silent unanswered", "changed found 9", "changed ambiguous",
						"doubt ambiguous", "withdrawn found 5", "withdrawn unanswered",
					},
				}},
				joint.Member{Name: "two", Network: network{
					delay: time.Millisecond,
					words: []string{
						"doubt unanswered", "both found 4", "b found 2", "a ambiguous", "silent unanswered",
						"changed unanswered", "withdrawn ambiguous",
					},
				}},
			)
			if diff := cmp.Diff(want, got.words()); diff != "" || err != nil || got.trouble != nil {
				t.Errorf("after %v: %v, %v (-want +got):\n%s", delay, err, got.trouble, diff)
			}
		})
	}
}

func TestLocateIgnoresLessInformativeReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := 0
		_, err := locate(t, func(tefca.Facility) error { told++; return nil },
			joint.Member{Name: "one", Network: network{words: []string{"a found 1"}}},
			joint.Member{Name: "two", Network: network{delay: time.Second, words: []string{"a ambiguous", "a unanswered"}}},
		)
		if told != 1 || err != nil {
			t.Errorf("told %d times, %v", told, err)
		}
	})
}

func TestLocateReportsFacilitiesOfFailedMemberAsUnanswered(t *testing.T) {
	t.Parallel()
	failing := joint.Member{
		Name: "one", Network: network{words: []string{"a found 1"}, fails: fmt.Errorf("no: %w", tefca.ErrUnavailable)},
		Places: []joint.Place{{ID: "a"}, {ID: "b", Name: "B", City: "Madison", State: "WI"}, {ID: "c"}},
	}
	other := joint.Member{Name: "two", Network: network{words: []string{"c found 2"}}}
	for _, members := range [][]joint.Member{{failing, other}, {other, failing}} {
		got, err := locate(t, all, members...)
		want := []string{"a found one|1", "b unanswered", "c found two|2"}
		if diff := cmp.Diff(want, got.words()); diff != "" || err != nil || got.last["b"].Name != "B" ||
			got.last["b"].City+got.last["b"].State != "MadisonWI" {
			t.Errorf("%v, %+v (-want +got):\n%s", err, got.last["b"], diff)
		}
		if len(got.trouble) != 1 || got.trouble[0] != "one: unavailable" {
			t.Errorf("told was trouble of %v", got.trouble)
		}
	}
}

func TestLocateFailsWhenAllMembersFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ one, two, want error }{
		"none answers":            {tefca.ErrUnavailable, tefca.ErrUnavailable, tefca.ErrUnavailable},
		"one does not accept":     {tefca.ErrIdentity, tefca.ErrUnavailable, tefca.ErrUnavailable},
		"the other does not":      {tefca.ErrUnavailable, tefca.ErrIdentity, tefca.ErrUnavailable},
		"none accepts":            {tefca.ErrIdentity, tefca.ErrIdentity, tefca.ErrIdentity},
		"one does, and finds all": {tefca.ErrIdentity, nil, nil},
	} {
		_, err := locate(t, all, joint.Member{Name: "one", Network: network{fails: c.one}},
			joint.Member{Name: "two", Network: network{fails: c.two}})
		if !errors.Is(err, c.want) || errors.Is(err, tefca.ErrIdentity) != errors.Is(c.want, tefca.ErrIdentity) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLocateStopsWhenCallbackFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, told := time.Now(), 0
		got, err := locate(t, func(tefca.Facility) error { told++; return errOurs },
			joint.Member{Name: "one", Network: network{words: []string{"a found 1", "b found 2"}}},
			joint.Member{Name: "two", Network: network{delay: time.Hour, words: []string{"c found 3"}}},
		)
		if !errors.Is(err, errOurs) || told != 1 || got.trouble != nil || time.Since(began) > time.Minute {
			t.Errorf("told %d, %v, %v, after %v", told, err, got.trouble, time.Since(began))
		}
	})
}

func TestNetworkReadsFacilityThroughItsMember(t *testing.T) {
	t.Parallel()
	var one, two []string
	n := joint.Network{Members: []joint.Member{
		{Name: "one", Network: network{asked: &one}},
		{Name: "two", Network: server{network{asked: &two}}},
	}}
	at := func(local string) tefca.Facility { return tefca.Facility{ID: "f", Local: secret.New(local)} }
	for _, local := range []string{"one|1", "two|2|3", "three|4", "one", ""} {
		_, listed := n.Documents(t.Context(), tefca.Assertion{}, at(local))
		_, read := n.Retrieve(t.Context(), tefca.Assertion{}, at(local), tefca.Document{ID: "d"}, 9)
		_, opened := n.Open(t.Context(), tefca.Assertion{}, at(local))
		known := strings.HasPrefix(local, "one|") || strings.HasPrefix(local, "two|")
		if errors.Is(listed, tefca.ErrRefused) == known || errors.Is(read, tefca.ErrRefused) == known ||
			(opened == nil) != strings.HasPrefix(local, "two|") {
			t.Errorf("%q: %v, %v, %v", local, listed, read, opened)
		}
	}
	if diff := cmp.Diff([][]string{
		{"list f by 1", "read d of f by 1, 9"},
		{"list f by 2|3", "read d of f by 2|3, 9", "open f by 2|3"},
	}, [][]string{one, two}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
