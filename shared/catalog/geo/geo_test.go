package geo_test

import (
	"fmt"
	"math"
	"testing"

	"recordbridge/shared/catalog/geo"
)

func TestZIPAcceptsFiveOrNineDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"02134": "02134", " 02134-5678": "02134", "021345678": "02134", "2134": "", "0213a": "", "02134-": "",
		"0213-45678": "", "-2134": "", "+2134": "",
		"": "", "02134 5678": "", "０２１３４": "",
	} {
		if got, ok := geo.ZIP(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
		}
	}
}

func TestStateReturnsStateOfZIP(t *testing.T) {
	t.Parallel()
	for zip, want := range map[string]string{
		"02134": "MA", "10001": "NY", "06390": "CT", "20001": "DC", "20101": "VA", "30301": "GA", "39901": "GA",
		"60601": "IL", "73301": "TX", "79901": "TX",
		"88510": "TX", "87501": "NM", "83001": "WY", "96701": "HI", "96910": "GU", "99501": "AK", "00901": "PR",
		"00801": "VI", "00000": "", "09012": "", "abc": "",
	} {
		if got := geo.State(zip); got != want {
			t.Errorf("%s is in %q, want %q", zip, got, want)
		}
	}
}

// TestPrefixesHaveValidStates checks that every line has the correct width and a valid state. A line of the wrong width
// would shift all later lines.
func TestPrefixesHaveValidStates(t *testing.T) {
	t.Parallel()
	states := map[string]bool{}
	for prefix := range 1000 {
		zip := fmt.Sprintf("%03d01", prefix)
		state := geo.State(zip)
		if _, known := geo.Distance(zip, zip); known != (state != "") {
			t.Errorf("%s is in %q, and known: %v", zip, state, known)
		}
		if state != "" && geo.StateName(state) == "" {
			t.Errorf("%s is in %q, which is no state", zip, state)
		}
		states[state] = true
	}
	for code := range geo.States() {
		if !states[code] && code != "AS" && code != "MP" { // AS's and MP's ZIP prefixes belong to Hawaii and Guam
			t.Errorf("no ZIP code is in %s", code)
		}
	}
}

func TestDistanceIsApproximatelyCorrect(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]float64{
		{"02134", "02134"}: 0, {"02134", "02135-0001"}: 6, {"02134", "02101"}: 20, // estimated from matching digits
		{"10001", "07030"}: 20, {"02134", "10001"}: 306, {"10001", "90001"}: 3940, {"98101", "97201"}: 233,
		{"60601", "53201"}: 131, {"33101", "32301"}: 645,
		{"96801", "94101"}: 3860,
	} {
		got, ok := geo.Distance(pair[0], pair[1])
		back, _ := geo.Distance(pair[1], pair[0])
		if !ok || got != back || math.Abs(got-want) > 40 {
			t.Errorf("%v: %.0f km and back %.0f (%v), want about %.0f", pair, got, back, ok, want)
		}
	}
	if km, ok := geo.Distance("02134", "00000"); ok {
		t.Errorf("an unknown place is %.0f km away", km)
	}
}

func BenchmarkDistance(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		geo.Distance("02134", "90001")
	}
}

func TestNearestReturnsLeastKnownDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		others []string
		zip    string
		want   float64
		ok     bool
	}{
		{nil, "07030", 0, false},
		{[]string{"00000", "x"}, "07030", 0, false},
		{[]string{"07030"}, "00000", 0, false},
		{[]string{"89501", "00000", "07031", "12207"}, "07030-1234", 6, true},
		{[]string{"07031", "07030"}, "07030", 0, true},
	} {
		if km, ok := geo.Nearest(c.others, c.zip); km != c.want || ok != c.ok {
			t.Errorf("%v to %s: %v, %t", c.others, c.zip, km, ok)
		}
	}
}
