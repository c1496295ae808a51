package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/sandbox/oauth"
)

// notesLast is the period for which counters, times and search sessions are stored.
const notesLast = 24 * time.Hour

var (
	errBusy     = errors.New("a counter changed too often while it was read")
	errNoRandom = errors.New("no session id could be made")
)

// portalState holds a misbehaving portal's counters and search sessions. The data is in the sandbox's store, because a
// client's requests may reach different processes.
type portalState struct {
	store  oauth.Store
	now    func() time.Time
	random io.Reader
	site   string // part of every key; separates the portals
}

func (n portalState) key(kind string, parts []string) string {
	sum := sha256.Sum256([]byte(n.site + "\n" + strings.Join(parts, "\n")))

	return kind + hex.EncodeToString(sum[:])
}

// count increments a counter and returns its new value.
func (n portalState) count(ctx context.Context, parts ...string) (int64, error) {
	key := n.key("COUNT#", parts)
	for range 100 {
		old, _, err := n.store.Get(ctx, key)
		if err != nil {
			return 0, errCounter("get", err)
		}
		var next int64 = 1
		if old != nil {
			before, notNumber := strconv.ParseInt(string(old), 10, 64)
			if notNumber != nil {
				return 0, errCounter("decode", notNumber)
			}
			next += before
		}
		swapped, err := n.store.Swap(ctx, key, old, strconv.AppendInt(nil, next, 10), n.now().Add(notesLast))
		if err != nil {
			return 0, errCounter("swap", err)
		}
		if swapped {
			return next, nil
		}
	}

	return 0, errBusy
}

// counted returns a counter's value without incrementing it.
func (n portalState) counted(ctx context.Context, parts ...string) (int64, error) {
	raw, found, err := n.store.Get(ctx, n.key("COUNT#", parts))
	if err != nil || !found {
		return 0, errCounter("get", err)
	}
	value, err := strconv.ParseInt(string(raw), 10, 64)

	return value, errCounter("decode", err)
}

func (n portalState) moment(ctx context.Context, parts ...string) (at time.Time, isSet bool, err error) {
	raw, isSet, err := n.store.Get(ctx, n.key("MOMENT#", parts))
	if err != nil || !isSet {
		return time.Time{}, false, errCounter("get", err)
	}
	at, err = time.Parse(time.RFC3339Nano, string(raw))

	return at, true, errCounter("decode", err)
}

func (n portalState) setMoment(ctx context.Context, at time.Time, parts ...string) error {
	raw := []byte(at.UTC().Format(time.RFC3339Nano))

	return errCounter("put", n.store.Put(ctx, n.key("MOMENT#", parts), raw, n.now().Add(notesLast)))
}

// errCounter adds the failed operation's name to err. It returns nil if err is nil.
func errCounter(what string, err error) error {
	if err == nil {
		return nil
	}

	return fmt.Errorf("%s counter: %w", what, err)
}

// every counts an event and reports whether the count is a multiple of period. If period is 0, every returns false
// without counting the event.
func (n portalState) every(ctx context.Context, period int64, parts ...string) (bool, error) {
	if period <= 0 {
		return false, nil
	}
	counted, err := n.count(ctx, parts...)

	return err == nil && counted%period == 0, err
}

// openSession stores a next page's query and returns the ID of a session for fetching that page.
func (n portalState) openSession(ctx context.Context, query string) (string, error) {
	raw := make([]byte, 16)
	if _, err := io.ReadFull(n.random, raw); err != nil {
		return "", errors.Join(errNoRandom, err)
	}
	id := hex.EncodeToString(raw)
	if err := n.store.Put(ctx, n.key("SESSION#", []string{id}), []byte(query), n.now().Add(notesLast)); err != nil {
		return "", fmt.Errorf("put session: %w", err)
	}

	return id, nil
}

// session returns a session's query without closing the session, or false if the ID is unknown.
func (n portalState) session(ctx context.Context, id string) (string, bool, error) {
	query, found, err := n.store.Get(ctx, n.key("SESSION#", []string{id}))
	if err != nil {
		return "", false, fmt.Errorf("get session: %w", err)
	}

	return string(query), found, nil
}

// takeSession returns a session's query and closes the session. It returns false if no open session has the given ID.
func (n portalState) takeSession(ctx context.Context, id string) (string, bool, error) {
	key := n.key("SESSION#", []string{id})
	query, found, err := n.store.Get(ctx, key)
	if err != nil {
		return "", false, fmt.Errorf("get session: %w", err)
	}
	if !found || string(query) == usedSession {
		return "", false, nil
	}
	swapped, err := n.store.Swap(ctx, key, query, []byte(usedSession), n.now().Add(notesLast))
	if err != nil {
		return "", false, fmt.Errorf("swap session: %w", err)
	}

	return string(query), swapped, nil
}

// usedSession is stored instead of a closed session's query.
const usedSession = "used"
