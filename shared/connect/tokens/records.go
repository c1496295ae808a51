package tokens

import "time"

// Records describes the cached record of a connection whose data is not fetched on demand (package tefca/records). It
// contains the values from which the object names are derived, and counts of the missing documents.
type Records struct {
	Generation int64          `json:"generation"`         // of the connection
	Batch      string         `json:"batch"`              // of the write; separates two writes of one generation
	Chunks     int            `json:"chunks"`             // zero if there are no records
	Documents  int            `json:"documents"`          // that the chunks contain
	Lost       map[string]int `json:"lost,omitempty"`     // missing documents by reason (export.LossReason)
	Fixtures   map[string]int `json:"fixtures,omitempty"` // chunks of the synthetic records, by name
	Until      time.Time      `json:"until"`              // expiry of the set and of the cache
}

// Held returns the number of chunks of the record, or of the named fixture; ok is false if it does not exist.
func (r Records) Held(fixture string) (chunks int, ok bool) {
	if fixture == "" {
		return r.Chunks, true
	}
	chunks, ok = r.Fixtures[fixture]
	return chunks, ok
}
