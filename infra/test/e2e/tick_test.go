package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/lambdarun"
)

const (
	// byDue is the index that orders rows by due time.
	byDue = "byDue"
	// scheduleLookahead is longer than the lookahead of every schedule.
	scheduleLookahead = 2 * time.Minute
	// idleTicks is the period, in ticks, at which a schedule without work fires.
	idleTicks = 60
)

// sweep fires every one-minute schedule once. Errors are ignored, because a crashed function's schedule fires again a
// minute later.
func (s clock) sweep() {
	s.t.Helper()
	payload, err := json.Marshal(lambdarun.Tick{ID: "tick", Time: time.Now()})
	expect.NoError(s.t, err)
	for _, f := range s.template.Functions {
		if len(f.Schedules) > 0 && f.Schedules[0].Every == time.Minute && shouldFire(s.stack, f) {
			_, _ = s.Invoke(s.t.Context(), f.LogicalID, payload)
		}
	}
}

// shouldFire reports whether to fire a schedule. shouldFire skips most ticks at which the schedule would query every
// shard without finding work. Under a fault plan, or until a requested crash has happened, every tick fires because the
// faults depend on the number of calls.
func shouldFire(s *stack, f template.Function) bool {
	s.t.Helper()
	return s.plan != nil || s.functions[f.LogicalID].tick(hasWork(s, f))
}

func hasWork(s *stack, f template.Function) bool {
	s.t.Helper()
	if f.Folder == "catalogprobe" { // catalogprobe probes the endpoints of published catalogues
		return slices.ContainsFunc(s.state.browse(f.Environment["CATALOG_TABLE"]), func(r map[string]json.RawMessage) bool {
			return strings.HasPrefix(textOf(s.t, r["pk"]), "POINTER#")
		})
	}
	timers := false
	for _, table := range s.template.Tables {
		if !isOf(f, table) {
			continue
		}
		timers = true
		if len(s.clock.due(table.Name, time.Now().Add(scheduleLookahead))) > 0 {
			return true
		}
	}
	return !timers // a function without timers may find work at any time
}

// isOf reports whether a function processes a table's timers.
func isOf(f template.Function, table template.Table) bool {
	hasTimers := slices.ContainsFunc(table.Indexes, func(i template.Index) bool { return i.Name == byDue })
	for _, value := range f.Environment {
		if hasTimers && value == table.Name {
			return true
		}
	}
	return false
}

// tick counts the consecutive ticks at which a schedule finds no work and reports whether the current tick must fire.
func (f *function) tick(hasWork bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if hasWork {
		f.idle = 0
		return true
	}
	f.idle++
	return f.armed || f.idle%idleTicks == 1
}

// due lists the keys of the rows that are due before the given time according to the table's index. due reads the
// embedded AWS's data directly, which is cheaper than querying each shard.
func (s clock) due(table string, before time.Time) []string {
	s.t.Helper()
	var keys []string
	for from := ""; ; {
		page, err := s.cloud.DynamoDB().Browse(ddb.Position{Table: table, Index: byDue, From: from, Limit: 100})
		expect.NoError(s.t, err)
		for _, found := range page.Rows {
			if textOf(s.t, found.Item["due_at"]) <= before.UTC().Format("2006-01-02T15:04:05.000000Z") {
				keys = append(keys, textOf(s.t, found.Item["pk"]))
			}
		}
		if from = page.Next; from == "" {
			return keys
		}
	}
}

func textOf(tb testing.TB, attribute json.RawMessage) string {
	tb.Helper()
	var value struct{ S string }
	expect.NoError(tb, json.Unmarshal(attribute, &value))
	return value.S
}
