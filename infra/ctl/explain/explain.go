package explain

import (
	"slices"
	"strings"
)

// Explanation is the explanation of a log line. The maps contain the line's fields by name. Callers add the names of
// the objects identified by ID fields.
type Explanation struct {
	What     string            `json:"what"` // failure's name in docs/operate/failures.md
	Means    string            `json:"means,omitempty"`
	Whose    map[string]string `json:"whose"`
	Where    map[string]string `json:"where"`
	Why      map[string]string `json:"why"`
	Do       string            `json:"do"`
	Commands []string          `json:"commands,omitempty"` // related ctl commands
}

// Explain returns an explanation for a log line that reports a failure.
func (t Table) Explain(line Line) Explanation {
	told := Explanation{
		Means: t.inWords(line),
		Whose: line.some(
			"org_id", "mode", "connection_id", "task_id", "subscription_id", "delivery_id", "event_id", "attempt_id",
			"registration_id", "notice_id",
		),
		Where: line.some(
			"route", "step", "host", "upstream_status", "endpoint_id", "dependency", "table", "key", "bucket", "operation",
			"row", "attribute", "queue", "unsent_to", "limit", "field",
		),
		Why: line.some(
			"result", "outcome", "sign_in", "class", "unsent_class", "reason", "ended", "disabled", "error", "cause",
			"departures", "missing_types", "setbacks", "next_at",
		),
		Commands: line.commands(),
	}
	told.Where["line"] = line.Fields["msg"]
	if line.Function != "" {
		told.Where["function"] = line.Function
	}
	if row, ok := t.find(line); ok {
		told.What, told.Do = row.Name, row.Advice
		return told
	}
	told.What = "no row in docs/operate/failures.md matches this failure: " + line.summary()
	told.Do = "check the fields (docs/operate/monitoring.md, Log fields) and the commands"
	return told
}

// some returns the line's non-empty fields with the given names.
func (l Line) some(names ...string) map[string]string {
	found := map[string]string{}
	for _, name := range names {
		if value := l.Fields[name]; value != "" {
			found[name] = value
		}
	}
	return found
}

func (l Line) summary() string {
	words := []string{l.Fields["msg"]}
	for _, name := range []string{"result", "outcome", "step", "table", "key", "row", "unsent_to"} {
		if value := l.Fields[name]; value != "" {
			words = append(words, name+" "+value)
		}
	}
	return strings.Join(words, ", ")
}

// inWords returns explanations from the table for the codes in the log line.
func (t Table) inWords(line Line) string {
	var words []string
	for _, name := range []string{"class", "unsent_class", "reason", "ended", "disabled"} {
		if means := t.words[line.Fields[name]]; means != "" && !slices.Contains(words, means) {
			words = append(words, means)
		}
	}
	return strings.Join(words, "; ")
}

// find returns the row that best matches line, or the first of several rows that match equally well.
func (t Table) find(line Line) (Failure, bool) {
	var best Failure
	var most int
	var isFound bool
	for _, row := range t.failures {
		if score, fits := row.score(line); fits && (!isFound || score > most) {
			best, most, isFound = row, score, true
		}
	}
	return best, isFound
}

// score counts the fields whose values agree in the row and in the line. If the line contradicts an identifying field
// of the row, fits is false.
func (f Failure) score(line Line) (score int, fits bool) {
	// For each of these fields, a line fits a row only if both have the field or both lack it.
	for _, sign := range []string{"step", "event", "disabled", "dependency"} {
		if _, documented := f.Fields[sign]; documented != (line.Fields[sign] != "") {
			return 0, false
		}
	}
	for name, documented := range f.Fields {
		switch {
		case line.Agrees(name, documented):
			score++
		case slices.Contains([]string{
			"msg", "result", "step", "class", "row", "key", "sign_in", "ended", "error", "event", "dependency",
		}, name):
			return 0, false
		}
	}
	return score, true
}
