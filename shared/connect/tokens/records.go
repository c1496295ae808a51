package tokens

import "time"

// Records is what a token set knows of a record that is cached instead of asked for (package tefca/records): its names,
// of which nothing else is made, and what is not in it.
type Records struct {
	Generation int64          `json:"generation"`         // of the connection
	Batch      string         `json:"batch"`              // of the writing, so that two of one generation share no object
	Chunks     int            `json:"chunks"`             // none where there are no records
	Documents  int            `json:"documents"`          // that the chunks are made of
	Lost       map[string]int `json:"lost,omitempty"`     // documents that are not in them, by reason (export.LossReason)
	Fixtures   map[string]int `json:"fixtures,omitempty"` // chunks of the synthetic records beside it, by name
	Until      time.Time      `json:"until"`              // when the set has to end, and the cache with it
}

// Held is how many chunks there are of the record, or of the fixture that is named; ok is false
// for one that is not there.
func (r Records) Held(fixture string) (chunks int, ok bool) {
	if fixture == "" {
		return r.Chunks, true
	}
	chunks, ok = r.Fixtures[fixture]
	return chunks, ok
}
