package disconnect_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/fault"
)

// cabinet stores the names of cached objects and calls act when an object is deleted.
type cabinet struct {
	names map[string]bool
	act   func() error
}

func (c *cabinet) List(_ context.Context, prefix string) ([]string, error) {
	var found []string
	for name := range c.names {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	return found, nil
}

func (c *cabinet) Delete(_ context.Context, name string) error {
	if act := c.act; act != nil {
		c.act = nil
		if err := act(); err != nil {
			return err
		}
	}
	delete(c.names, name)
	return nil
}

const another = "c0000000-0000-4000-8000-000000000002"

// cached turns the connection into a TEFCA connection and caches several versions of its record and another
// connection's record.
func (w *world) cached(t *testing.T) *cabinet {
	t.Helper()
	c := authorized()
	c.PlatformType, c.Generation = connection.TEFCAPlatform, 2
	w.keep(t, c)
	w.hold(t, 2)
	kept := &cabinet{names: map[string]bool{place(another, "1/other/0"): true}}
	for _, name := range []string{"1/earlier/0", "1/earlier/alder.xml/0", "2/lost/0", "2/current/0", "2/current/1"} {
		kept.names[place(connID, name)] = true
	}
	w.d.Records = records.Ender{Objects: kept}
	return kept
}

func place(connection, name string) string {
	return "test/" + tenant.OrgID + "/" + connection + "/" + name
}

func (c *cabinet) wantOthers(t *testing.T) {
	t.Helper()
	if left := slices.Collect(maps.Keys(c.names)); !slices.Equal(left, []string{place(another, "1/other/0")}) {
		t.Errorf("left are %v", left)
	}
}

// TestDisconnectDeletesCachedRecord checks that every cached version is deleted before the connection ends, so that a
// repeated call completes the deletion after a crash.
func TestDisconnectDeletesCachedRecord(t *testing.T) {
	t.Parallel()
	for name, point := range map[string]string{
		"at once": "", "after a crash": "before EndConnection",
		"after a crash behind": "after EndConnection",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			kept := w.cached(t)
			if point != "" {
				w.store.at(point, func() error { return errTrouble })
				if _, err := w.d.Disconnect(t.Context(), tenant, connID); !errors.Is(err, errTrouble) {
					t.Fatalf("%v, want the trouble", err)
				}
				kept.wantOthers(t)
			}
			if got := w.disconnect(t); got.Status != connection.Revoked {
				t.Errorf("it is %s", got.Status)
			}
			kept.wantOthers(t)
			_, err := w.store.Disconnections.Tokens(t.Context(), tenant, connID)
			expect.NotFound(t, "the token set", err)
		})
	}
}

// TestDisconnectKeepsConnectionWhenRecordCannotBeDeleted checks that a later call can still delete the record.
func TestDisconnectKeepsConnectionWhenRecordCannotBeDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cached(t).act = func() error { return errTrouble }
	if _, err := w.d.Disconnect(t.Context(), tenant, connID); !errors.Is(err, errTrouble) ||
		errors.Is(err, fault.Conflict) {
		t.Errorf("%v, want the trouble", err)
	}
	if c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID); err != nil ||
		c.Status != connection.Authorized {
		t.Errorf("%s, %v", c.Status, err)
	}
}

// TestDisconnectDeletesRecordCachedConcurrently covers a patient who authorises again while the first cached record is
// being deleted.
func TestDisconnectDeletesRecordCachedConcurrently(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := w.cached(t)
	kept.act = func() error {
		kept.names[place(connID, "3/again/0")] = true
		w.hold(t, 3)
		c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID)
		expect.NoError(t, err)
		c.Generation++
		return w.refresh().SaveConnection(t.Context(), c)
	}
	w.disconnect(t)
	kept.wantOthers(t)
}

// TestFinishKeepsRecordsCachedAfterReconnect covers an authorisation that occurs between the disconnection request and
// its completion.
func TestFinishKeepsRecordsCachedAfterReconnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := w.cached(t)
	w.request(t)
	later := place(connID, "3/next/0")
	kept.names[later] = true
	_, err := w.d.Finish(t.Context(), tenant, connID)
	expect.NoError(t, err)
	left := slices.Sorted(maps.Keys(kept.names))
	if want := []string{later, place(another, "1/other/0")}; !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}
