package source

import (
	"time"

	"recordbridge/shared/export/known"
)

// Flight exposes the unexported type flight to tests.
type Flight struct{ flight flight }

func NewFlight(most int) *Flight { return &Flight{newFlight(most)} }

// Limit returns the current limit on concurrent requests.
func (f *Flight) Limit() int { return f.flight.limit }

// Shown returns the concurrency limit observed so far, or 0 if no limit was observed.
func (f *Flight) Shown() int { return f.flight.shown() }

func (f *Flight) Expect(begin, limit int) { f.flight.expect(begin, limit) }

func (f *Flight) Load() known.Experience { return f.flight.load() }

// OneByOne simulates count sequential requests, each with a normal response.
func (f *Flight) OneByOne(count int) {
	for range count {
		f.flight.complete(completion{number: f.flight.start(1), beside: 1, sign: calm, took: time.Second})
	}
}

// Together simulates as many concurrent requests as the limit allows, and then completes them. The answer function
// determines each result from the number of requests in flight when the request was sent.
func (f *Flight) Together(answer func(beside int) (sign string, took time.Duration)) {
	signs := map[string]sign{"calm": calm, "nothing": unrelated, "strain": strain, "refusal": refusal}
	var all []completion
	for beside := 1; beside <= f.flight.limit; beside++ {
		word, took := answer(beside)
		all = append(all, completion{number: f.flight.start(beside), beside: beside, sign: signs[word], took: took})
	}
	for _, one := range all {
		f.flight.complete(one)
	}
}
