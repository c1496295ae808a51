package refresh_test

import (
	"fmt"
	"testing"
	"time"

	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

func connectionNumber(n int) string { return fmt.Sprintf("c0000000-0000-4000-8000-%012d", n) }

func withRefreshToken() tokens.Set { return tokens.Set{RefreshToken: secret.New("r")} }

func TestRefreshScheduleSpreadsConnectionsOverWeek(t *testing.T) {
	t.Parallel()
	const many = 10_000
	perHour := map[time.Time]int{}
	for n := range many {
		id := connectionNumber(n)
		next := refresh.Next(id, withRefreshToken(), start)
		if wait := next.Sub(start); wait < 7*day/2 || wait >= 7*day/2+7*day {
			t.Fatalf("%s is due after %v", id, wait)
		}
		perHour[next.Truncate(time.Hour)]++
		if again := refresh.Next(id, withRefreshToken(), next.Add(time.Minute)); !again.Equal(next.Add(7 * day)) {
			t.Fatalf("%s is due at %v and then at %v, want the same place in the next week", id, next, again)
		}
	}
	for hour, n := range perHour {
		if n > 3*many/(7*24) {
			t.Errorf("%d of %d are due in the hour of %v", n, many, hour)
		}
	}
	if len(perHour) < 7*24 {
		t.Errorf("they are due in %d hours of the week", len(perHour))
	}
}

func TestRefreshScheduleUsesAccessTokenExpiryWithoutRefreshToken(t *testing.T) {
	t.Parallel()
	set := tokens.Set{ExpiresAt: start.Add(2 * day), ConsentExpiresAt: start.Add(day), RefreshExpiresAt: start.Add(day)}
	if next := refresh.Next(connID, set, start); !next.Equal(set.ExpiresAt) {
		t.Errorf("due at %v", next)
	}
}

func TestRefreshIsScheduledBeforeLastFifthOfRefreshTokenLifetime(t *testing.T) {
	t.Parallel()
	for _, life := range []time.Duration{30 * time.Minute, day, 3 * day} {
		set := withRefreshToken()
		set.RefreshExpiresAt = start.Add(life)
		for n := range 100 {
			if wait := refresh.Next(connectionNumber(n), set, start).Sub(start); wait > life*8/10 || wait < life*7/10 {
				t.Errorf("a life of %v: used after %v", life, wait)
			}
		}
	}
}

func TestRefreshScheduleLimitsRefreshesOfTokenWithFixedExpiry(t *testing.T) {
	t.Parallel()
	set := withRefreshToken()
	set.RefreshExpiresAt = start.Add(30 * day)
	refreshes := 0
	for now := refresh.Next(connID, set, start); now.Before(set.RefreshExpiresAt); now = refresh.Next(connID, set, now) {
		if refreshes++; refreshes > 20 {
			t.Fatal("it is refreshed ever more often")
		}
	}
	if refreshes < 4 {
		t.Errorf("refreshed %d times in 30 days", refreshes)
	}
}

func TestConsentCheckIsScheduledAfterConsentExpires(t *testing.T) {
	t.Parallel()
	set := withRefreshToken()
	set.ConsentExpiresAt = start.Add(2 * day)
	for n := range 100 {
		if late := refresh.Next(connectionNumber(n), set, start).Sub(set.ConsentExpiresAt); late < 0 || late >= time.Hour {
			t.Errorf("looked into %v after it", late)
		}
	}
	set.ConsentExpiresAt = start.Add(-day) // simulates a wrong platform default
	if wait := refresh.Next(connID, set, start).Sub(start); wait < 7*day/2 {
		t.Errorf("a date that has passed makes it due after %v", wait)
	}
}
