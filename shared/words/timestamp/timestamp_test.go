package timestamp_test

import (
	"encoding/json"
	"testing"
	"time"

	"recordbridge/shared/words/timestamp"
)

func TestTimestampOfFormatsRFC3339InUTC(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 2*60*60)
	for at, want := range map[time.Time]string{
		time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC):           "2026-03-04T05:06:07Z",
		time.Date(2026, 3, 4, 5, 6, 7, 999_999_000, time.UTC): "2026-03-04T05:06:07Z",
		time.Date(2026, 3, 4, 1, 0, 0, 0, east):               "2026-03-03T23:00:00Z",
		time.Unix(0, 0):                                       "1970-01-01T00:00:00Z",
	} {
		if got := timestamp.Of(at); got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
}

func TestTimestampOfReturnsEmptyStringForZeroTime(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal(struct {
		At string `json:"at,omitempty"`
	}{timestamp.Of(time.Time{}.In(time.FixedZone("", 3600)))})
	if err != nil || string(body) != "{}" {
		t.Errorf("got %s, %v", body, err)
	}
}
