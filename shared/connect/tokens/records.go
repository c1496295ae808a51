package tokens

import "time"

// Records describes the cached record for a connection whose data is not fetched on demand (package tefca/records).
// Records contains the values used to derive object names, and counts of missing documents.
type Records struct {
	Generation int64          `json:"generation"`
	Batch      string         `json:"batch"`  // ID of the write; distinguishes writes within a generation
	Chunks     int            `json:"chunks"` // number of chunks; zero if the record is empty
	Documents  int            `json:"documents"`
	Lost       map[string]int `json:"lost,omitempty"`     // number of missing documents by reason (export.LossReason)
	Fixtures   map[string]int `json:"fixtures,omitempty"` // number of chunks in each synthetic record, by fixture name
	Until      time.Time      `json:"until"`              // expiry of the token set and the cache
}

// Held returns the number of chunks in the record or in the named fixture. ok is false if the record or fixture does
// not exist.
func (r Records) Held(fixture string) (chunks int, ok bool) {
	if fixture == "" {
		return r.Chunks, true
	}
	chunks, ok = r.Fixtures[fixture]
	return chunks, ok
}
