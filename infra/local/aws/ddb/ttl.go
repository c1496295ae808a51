package ddb

import (
	"math"
	"strconv"
	"time"
)

// ttlHorizon is the maximum age of an expiry time at which a row is still deleted. DynamoDB does not delete rows that
// expired longer ago.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html
const ttlHorizon = 5 * 365 * 24 * time.Hour

// Expire removes the rows whose time to live has passed at now, and returns how many it removed. As on AWS, rows may
// outlive their expiry: an expired row stays until Expire is called, and a row in a transaction stays until a later
// call. If the journal fails, no rows are removed and a later call retries.
func (s *Server) Expire(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var record journalRecord
	for _, t := range s.tables {
		if t.ttlAttribute == "" {
			continue
		}
		for _, rows := range t.rows.partitions {
			for _, r := range rows {
				if isExpired(r.item.attribute(t.ttlAttribute), now) && !s.inFlight[rowAddress{t, r.key}] {
					record.Items = append(record.Items, itemChange{Table: t.spec.TableName, Removed: t.key.of(t.rows.read(r))})
				}
			}
		}
	}
	if len(record.Items) == 0 || s.commit(record) != nil {
		return 0
	}
	return len(record.Items)
}

// isExpired reports whether a time to live, in seconds since 1970, has passed. A row whose value is not a number never
// expires.
func isExpired(ttl value, now time.Time) bool {
	if ttl.kind != typeNumber {
		return false
	}
	seconds, err := strconv.ParseFloat(ttl.text, 64)
	if err != nil || math.Abs(seconds) > math.MaxInt32*1000 {
		return false
	}
	expiry := time.Unix(int64(seconds), 0)
	return expiry.Before(now) && expiry.After(now.Add(-ttlHorizon))
}
