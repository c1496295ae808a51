package facilitated

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

const (
	// atOnce is the number of facilities that are queried concurrently. maxWait is the time limit for each facility.
	atOnce  = 8
	maxWait = 20 * time.Second
)

// Locate implements tefca.Network. It requests a token for the person's Patient resource from every facility in the
// directory. It then reads and discards the resource. A facility whose token grants access to no Patient has no match
// and is not reported. If a token grants access to several Patient resources, the match is Ambiguous. Every other
// failure is reported as Unanswered. This includes invalid_grant, which servers return for an untrusted identity
// provider, an expired token or a missing consent. No specification defines the response for an unknown person.
func (n *Network) Locate(ctx context.Context, who tefca.Assertion, found func(tefca.Facility) error) error {
	if !n.now().Before(who.ExpiresAt) {
		return tefca.ErrIdentity
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan tefca.Facility)
	var asking sync.WaitGroup
	places := make(chan Place)
	for range min(atOnce, len(n.config.Places)) {
		asking.Go(func() {
			for place := range places {
				answers <- n.ask(ctx, place, who)
			}
		})
	}
	asking.Go(func() {
		defer close(places)
		for _, place := range n.config.Places {
			places <- place
		}
	})
	go func() {
		asking.Wait()
		close(answers)
	}()
	var failed error
	for facility := range answers {
		if failed != nil || facility.Match == "" {
			continue
		}
		if failed = found(facility); failed != nil {
			cancel() // the loop then drains answers so that the other goroutines end before Locate returns
		}
	}
	return failed
}

// ask queries one facility. If the facility has no match for the person, its Match is empty.
func (n *Network) ask(ctx context.Context, place Place, who tefca.Assertion) tefca.Facility {
	told := tefca.Facility{ID: place.ID, Name: place.Name, City: place.City, State: place.State, Access: tefca.FHIR}
	within, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	id, err := n.locate(within, n.known[place.ID], who)
	switch {
	case err == nil:
		told.Match, told.Local = tefca.Found, secret.New(id)
	case errors.Is(err, errSeveral):
		told.Match = tefca.Ambiguous
	case errors.Is(err, errNobody):
	default:
		told.Match = tefca.Unanswered
		spot := fault.SpotOf(err)
		spot.Class = tefca.ClassOf(err)
		attrs := append(logx.Spot(spot), slog.String("directory_id", place.ID))
		logx.Note(ctx, "tefca.unanswered", attrs...)
	}
	return told
}

func (n *Network) locate(ctx context.Context, f *facility, who tefca.Assertion) (id string, err error) {
	granted, _, err := n.token(ctx, f, who, true)
	if err != nil {
		return "", err
	}
	return n.verifiedPatient(ctx, f.place.FHIRBase, granted, who.Person)
}
