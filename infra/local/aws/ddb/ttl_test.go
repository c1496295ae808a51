package ddb_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

func TestExpireRemovesExpiredRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := ddb.New(wire.Discard{})
		client := clientOf(server)
		createWork(t, client)
		if err := updateTTL(t, client, true); err != nil {
			t.Fatal(err)
		}
		epoch := func(after time.Duration) item {
			return item{
				"expires": num(strconv.FormatInt(time.Now().Add(after).Unix(), 10)), "org": str("o"),
				"created": str("c"),
			}
		}
		put(t, client, with(key("a", "minute"), epoch(time.Minute)))
		put(t, client, with(key("a", "hour"), epoch(time.Hour)))
		put(t, client, with(key("a", "ancient"), epoch(-6*365*24*time.Hour)))
		put(t, client, with(key("a", "text"), item{"expires": str("1")}))
		put(t, client, key("a", "forever"))
		if got := server.Expire(time.Now()); got != 0 {
			t.Errorf("got %d rows expired before their time, want 0", got)
		}
		<-time.After(10 * time.Minute)
		if got := get(t, client, key("a", "minute")); got == nil {
			t.Error("a row went before Expire was called, want it to stay")
		}
		if got := server.Expire(time.Now()); got != 1 {
			t.Errorf("got %d rows expired after ten minutes, want 1", got)
		}
		if got := get(t, client, key("a", "minute")); got != nil {
			t.Errorf("got %v, want the row gone", got)
		}
		if got := server.Expire(time.Now().Add(24 * time.Hour)); got != 1 {
			t.Errorf("got %d rows expired after a day, want 1", got)
		}
	})
}

func TestIdempotencyTokenExpiresAfterTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newTable(t)
		add := txUpdate(key("a", "1"), "ADD n :v", item{":v": num("1")})
		for _, step := range []struct {
			wait time.Duration
			want string
		}{{0, "1"}, {9*time.Minute + 59*time.Second, "1"}, {time.Second, "2"}, {time.Second, "2"}} {
			<-time.After(step.wait)
			if err := transact(t, client, "token", add); err != nil {
				t.Fatal(err)
			}
			wantItem(t, item{"n": get(t, client, key("a", "1"))["n"]}, item{"n": num(step.want)})
		}
	})
}
