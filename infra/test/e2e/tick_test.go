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
	// byDue is the index in which the rows that are timers stand.
	byDue = "byDue"
	// furthest is further than any schedule looks ahead.
	furthest = 2 * time.Minute
	// idleTicks is how many ticks in a row at which a schedule would find nothing count as one. The first is fired.
	idleTicks = 60
)

// sweep fires every schedule once. One that crashes is one minute late, no more.
func (s clock) sweep() {
	s.t.Helper()
	payload, err := json.Marshal(lambdarun.Tick{ID: "tick", Time: time.Now()})
	expect.NoError(s.t, err)
	for _, f := range s.template.Functions {
		if len(f.Schedules) > 0 && f.Schedules[0].Every == time.Minute && isWorthIt(s.stack, f) {
			_, _ = s.Invoke(s.t.Context(), f.LogicalID, payload)
		}
	}
}

// isWorthIt spares most of the ticks at which a schedule would look into every shard and find nothing. Until a crash
// has come, and under a plan, whose faults go by the number of a call, every tick is fired.
func isWorthIt(s *stack, f template.Function) bool {
	s.t.Helper()
	return s.plan != nil || s.functions[f.LogicalID].tick(hasWork(s, f))
}

// hasWork reports whether a schedule would find something to do.
func hasWork(s *stack, f template.Function) bool {
	s.t.Helper()
	if f.Folder == "catalogprobe" { // asks the endpoints of published catalogs
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
		if len(s.clock.due(table.Name, time.Now().Add(furthest))) > 0 {
			return true
		}
	}
	return !timers // what it looks at is not known here
}

// isOf tells whether the rows of a table are a function's timers.
func isOf(f template.Function, table template.Table) bool {
	hasTimers := slices.ContainsFunc(table.Indexes, func(i template.Index) bool { return i.Name == byDue })
	for _, value := range f.Environment {
		if hasTimers && value == table.Name {
			return true
		}
	}
	return false
}

// tick counts the ticks in a row at which a schedule has no work and reports whether this one is fired.
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

// due lists the keys of a table's rows on which somebody has to act before a time, as the index has them. It looks into
// the embedded AWS, which costs less than a call for each shard.
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

// textOf is a text as an attribute of a row has it.
func textOf(tb testing.TB, attribute json.RawMessage) string {
	tb.Helper()
	var value struct{ S string }
	expect.NoError(tb, json.Unmarshal(attribute, &value))
	return value.S
}
