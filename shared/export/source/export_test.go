package source

import (
	"time"

	"recordbridge/shared/export/known"
)

// Flight is the flight of a limiter, for tests of its own.
type Flight struct{ flight flight }

// NewFlight is newFlight.
func NewFlight(most int) *Flight { return &Flight{newFlight(most)} }

// Limit is how many requests may be under way.
func (f *Flight) Limit() int { return f.flight.limit }

// Shown is the limit that the server has shown, 0 for none.
func (f *Flight) Shown() int { return f.flight.shown() }

// Expect is that of the flight.
func (f *Flight) Expect(begin, limit int) { f.flight.expect(begin, limit) }

// Load is that of the flight.
func (f *Flight) Load() known.Experience { return f.flight.load() }

// OneByOne lets so many requests leave, each after the one before has been answered.
func (f *Flight) OneByOne(count int) {
	for range count {
		f.flight.land(landing{number: f.flight.depart(1), beside: 1, sign: calm, took: time.Second})
	}
}

// Together lets as many requests leave as may, and then lands them, each as answer says of how many
// were under way when it left.
func (f *Flight) Together(answer func(beside int) (sign string, took time.Duration)) {
	signs := map[string]sign{"calm": calm, "nothing": nothing, "strain": strain, "refusal": refusal}
	var all []landing
	for beside := 1; beside <= f.flight.limit; beside++ {
		word, took := answer(beside)
		all = append(all, landing{number: f.flight.depart(beside), beside: beside, sign: signs[word], took: took})
	}
	for _, one := range all {
		f.flight.land(one)
	}
}
