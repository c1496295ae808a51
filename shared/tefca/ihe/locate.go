package ihe

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/beevik/etree"
	"golang.org/x/sync/errgroup"

	"recordbridge/shared/tefca"
)

// maxDiscovery is the maximum size, in bytes, of a response to a patient discovery. A record takes about 5 KB, and a
// QHIN may return records of many communities.
const maxDiscovery = 4 << 20

// Locate implements tefca.Network. All gateways are queried, several at a time, each with its own time limit. A gateway
// whose response is missing or not trusted is reported as Unanswered. A QHIN that is Unanswered is reported under its
// own name.
func (n *Network) Locate(ctx context.Context, who tefca.Assertion, found func(tefca.Facility) error) error {
	if err := n.usable(who); err != nil {
		return err
	}
	heard := listener{found: found}
	asked, within := errgroup.WithContext(ctx)
	asked.SetLimit(n.atOnce)
	for _, g := range n.config.Gateways {
		asked.Go(func() error { return heard.take(within, n.discover(within, who, g)) })
	}
	err := asked.Wait()
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("ihe: %w: %w", ended, tefca.ErrUnavailable)
	}
	if err != nil {
		return err //nolint:wrapcheck // it is found's
	}
	for _, f := range heard.silent {
		if err := found(f); err != nil {
			return err
		}
	}
	return nil
}

// listener passes on reports of facilities one at a time. Facilities that sent no response are reported last.
type listener struct {
	mu     sync.Mutex
	found  func(tefca.Facility) error
	silent []tefca.Facility
}

func (l *listener) take(ctx context.Context, facilities []tefca.Facility) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range facilities {
		if f.Match == tefca.Unanswered {
			l.silent = append(l.silent, f)
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("ihe: %w", err) // Either found returned an error or the context was cancelled.
		}
		if err := l.found(f); err != nil {
			return err
		}
	}
	return nil
}

// discover queries one gateway about the person.
func (n *Network) discover(ctx context.Context, who tefca.Assertion, g Gateway) []tefca.Facility {
	limited, cancel := context.WithTimeout(ctx, n.gatewayLimit)
	defer cancel()
	to := n.facilities[g.Home]
	body := func(message string) *etree.Element { return n.discoverBody(message, who.Person, to) }
	got, err := n.ask(limited, who, call{
		action: actDiscover, format: to.format, address: g.Discovery, body: body,
		packaged: false, limit: maxDiscovery, repeatable: true,
	})
	var (
		facilities []tefca.Facility
		doubts     []rejection
	)
	if err == nil {
		facilities, doubts, err = n.parseDiscovery(got, g, who.Person)
	}
	if err != nil {
		facilities, doubts = []tefca.Facility{facility(g.Community, tefca.Unanswered)}, []rejection{{g.Home, err}}
	}
	for _, d := range doubts {
		if ctx.Err() == nil {
			n.deps.Unanswered(ctx, d.home, d.err)
		}
	}
	return facilities
}

// parseDiscovery parses a gateway's response and returns the trusted facilities and the rejections.
func (n *Network) parseDiscovery(got answer, g Gateway, who tefca.Person) ([]tefca.Facility, []rejection, error) {
	said, err := discovered(got, n.config.Home)
	if errors.Is(err, errBusy) {
		return nil, nil, fmt.Errorf("ihe: %w: %w", err, tefca.ErrUnavailable)
	}
	if err != nil {
		return nil, nil, content(err)
	}
	facilities, doubts := n.accepted(said, g, who)
	return facilities, doubts, nil
}
