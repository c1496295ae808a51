package explain

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Line is one log line.
type Line struct {
	Function string            // function that wrote the line, if the prefix names it
	Fields   map[string]string // fields by name; empty if the text is not a function's log line
}

// errBroken reports invalid JSON. The error omits the line, which may contain secrets.
var errBroken = errors.New("a line looks like JSON but is invalid")

// announced matches the prefix that make run prints before each line from a function.
var announced = regexp.MustCompile(`^([0-9A-Za-z]+) \| $`)

// ReadLine parses a log line from a function, from make run's output, or from CloudWatch, including any prefix. For
// text without JSON, such as Lambda's own messages, ReadLine returns no fields. Empty and redacted values are treated
// as absent.
func ReadLine(text string) (Line, error) {
	line := Line{Fields: map[string]string{}}
	begin := strings.IndexByte(text, '{')
	if begin < 0 {
		return line, nil
	}
	var written map[string]json.RawMessage
	if json.NewDecoder(strings.NewReader(text[begin:])).Decode(&written) != nil {
		return Line{}, errBroken
	}
	if found := announced.FindStringSubmatch(text[:begin]); found != nil {
		line.Function = found[1]
	}
	for name, value := range written {
		if told := scalar(value); told != "" && told != "[redacted]" {
			line.Fields[name] = told
		}
	}
	return line, nil
}

// scalar returns a string, number or boolean as text, and "" for any other value.
func scalar(value json.RawMessage) string {
	var text string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return text
	case strings.ContainsAny(string(value[:1]), "{["):
		return ""
	}
	return string(value)
}

// Failed reports whether the line describes a failure, including a failure that resolves itself.
func (l Line) Failed() bool {
	f := l.Fields
	return f["msg"] != "" && (slices.Contains([]string{"failed", "partial", "put_off"}, f["result"]) ||
		slices.Contains([]string{"retry", "poison"}, f["outcome"]) || f["unsent_to"] != "" || f["event"] == portalMoved ||
		f["limiter_failed"] == "true" || f["level"] == "ERROR")
}

// Agrees reports whether a field in the line matches the documented value.
func (l Line) Agrees(name, documented string) bool {
	value := l.Fields[name]
	inner := strings.Trim(documented, "…")
	switch {
	case documented == "-":
		return value == ""
	case documented == "":
		return value != ""
	case inner != documented:
		return strings.Contains(value, inner)
	}
	return value == documented
}
