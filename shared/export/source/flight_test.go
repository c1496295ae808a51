package source_test

import (
	"slices"
	"testing"
	"time"

	"recordbridge/shared/export/known"
	"recordbridge/shared/export/source"
)

func TestFlightAdaptsConcurrencyToServer(t *testing.T) {
	t.Parallel()
	always := func(sign string, took time.Duration) func(int, int) (string, time.Duration) {
		return func(int, int) (string, time.Duration) { return sign, took }
	}
	atMost := func(bears int) func(int, int) (string, time.Duration) {
		return func(_, beside int) (string, time.Duration) {
			if beside > bears {
				return "refusal", 0
			}
			return "calm", time.Second
		}
	}
	once := func(round int, sign string, took time.Duration) func(int, int) (string, time.Duration) {
		return func(now, _ int) (string, time.Duration) {
			if now == round {
				return sign, took
			}
			return "calm", time.Second
		}
	}
	eachSeventh := func() func(int, int) (string, time.Duration) {
		count := 0
		return func(int, int) (string, time.Duration) {
			if count++; count%7 == 0 {
				return "refusal", 0
			}
			return "calm", time.Second
		}
	}
	for name, c := range map[string]struct {
		most   int // known maximum concurrency; 0 if unknown
		answer func(round, beside int) (sign string, took time.Duration)
		from   int   // first round to check
		want   []int // expected concurrency limit in each round, starting at from
		shown  int
	}{
		"one more after each round, up to eight": {answer: always("calm", time.Second), want: []int{4, 5, 6, 7, 8, 8, 8}},
		"answers in no time":                     {answer: always("calm", 0), want: []int{4, 5, 6, 7, 8}},
		"no more than is known":                  {most: 5, answer: always("calm", time.Second), want: []int{4, 5, 5, 5}},
		"and no fewer than one":                  {most: 1, answer: always("strain", time.Second), want: []int{1, 1}},
		"it bears one":                           {answer: atMost(1), want: []int{4, 1, 1, 1, 1}, shown: 1},
		"it bears three":                         {answer: atMost(3), want: []int{4, 2, 3, 3, 3, 3}, shown: 3},
		"it bears six":                           {answer: atMost(6), want: []int{4, 5, 6, 7, 3, 4, 5, 6, 6, 6}, shown: 6},
		"half as many under strain, once for all that were under way": {
			answer: once(4, "strain", time.Second),
			want:   []int{4, 5, 6, 7, 8, 4, 5, 6},
		},
		"a refusal of what was often borne before shows no limit": {
			answer: once(30, "refusal", 0), from: 29,
			want: []int{8, 8, 4, 5, 6, 7, 8},
		},
		"it limits a rate": {answer: eachSeventh(), from: 30, want: []int{1}},
		"one fewer where answers come much later": {
			answer: once(4, "calm", 9*time.Second),
			want:   []int{4, 5, 6, 7, 8, 7, 8, 8},
		},
		"no more where they come later": {
			answer: once(2, "calm", 2500*time.Millisecond),
			want:   []int{4, 5, 6, 6, 7, 8},
		},
		"what fails by itself says nothing": {answer: once(2, "nothing", time.Second), want: []int{4, 5, 6, 6, 7, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flight := source.NewFlight(c.most)
			got := make([]int, 0, len(c.want))
			for round := range c.from + len(c.want) {
				if round >= c.from {
					got = append(got, flight.Limit())
				}
				flight.Together(func(beside int) (string, time.Duration) { return c.answer(round, beside) })
			}
			if !slices.Equal(got, c.want) || flight.Shown() != c.shown {
				t.Errorf("at once: %v and a limit of %d, want %v and %d", got, flight.Shown(), c.want, c.shown)
			}
		})
	}
}

func TestFlightIgnoresSequentialRequests(t *testing.T) {
	t.Parallel()
	flight := source.NewFlight(0)
	if flight.OneByOne(100); flight.Limit() != 4 {
		t.Errorf("%d at once, want 4 as at the beginning", flight.Limit())
	}
}

func TestFlightStartsWithLearnedConcurrency(t *testing.T) {
	t.Parallel()
	calm := func(int) (string, time.Duration) { return "calm", time.Second }
	for name, c := range map[string]struct {
		most, begin, limit int
		want               []int
	}{
		"nothing is known":               {want: []int{4, 5}},
		"it bore eight":                  {begin: 8, want: []int{8, 8}},
		"it bore more than is ever made": {begin: 80, want: []int{8, 8}},
		"its profile says two":           {most: 2, begin: 8, want: []int{2, 2}},
		"it refused a fourth":            {begin: 8, limit: 3, want: []int{3, 3}},
		"it refused a seventh":           {limit: 6, want: []int{4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flight := source.NewFlight(c.most)
			flight.Expect(c.begin, c.limit)
			for round, want := range c.want {
				if got := flight.Limit(); got != want {
					t.Errorf("round %d: %d at once, want %d", round, got, want)
				}
				flight.Together(calm)
			}
		})
	}
}

func TestFlightReportsLoad(t *testing.T) {
	t.Parallel()
	refusing := func(bears int) func(int) (string, time.Duration) {
		return func(beside int) (string, time.Duration) {
			if beside > bears {
				return "refusal", 0
			}
			return "calm", time.Second
		}
	}
	for name, c := range map[string]struct {
		answer func(beside int) (string, time.Duration)
		rounds int
		want   known.Experience
	}{
		"too few requests to tell": {answer: refusing(9), rounds: 1},
		"eight with ease":          {answer: refusing(9), rounds: 20, want: known.Experience{Handled: 8}},
		"three":                    {answer: refusing(3), rounds: 6, want: known.Experience{Limit: 3, Trouble: true}},
		"not even one: a rate":     {answer: refusing(0), rounds: 6, want: known.Experience{Trouble: true}},
		"strain, without any limit yet": {
			answer: func(int) (string, time.Duration) { return "strain", 0 }, rounds: 6,
			want: known.Experience{Trouble: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flight := source.NewFlight(0)
			for range c.rounds {
				flight.Together(c.answer)
			}
			if got := flight.Load(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
