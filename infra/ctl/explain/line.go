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
	Function string            // that wrote it, where the text in front of it says so
	Fields   map[string]string // none for a text that is no line of a function
}

// errBroken does not repeat the text: nobody knows what is in it.
var errBroken = errors.New("a line that looks like JSON is none")

// announced is what make run prints in front of a function's line.
var announced = regexp.MustCompile(`^([0-9A-Za-z]+) \| $`)

// ReadLine reads a line as a function writes it, as make run prints it, or as CloudWatch shows it, with text in front.
// A text without JSON, as Lambda itself writes, has no fields. What is empty or redacted counts as not there.
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

// scalar is a string, number or truth value as text, and "" for all else.
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

// Failed tells whether a line is about a failure, be it one that mends itself.
func (l Line) Failed() bool {
	f := l.Fields
	return f["msg"] != "" && (slices.Contains([]string{"failed", "partial", "put_off"}, f["result"]) ||
		slices.Contains([]string{"retry", "poison"}, f["outcome"]) || f["unsent_to"] != "" || f["event"] == portalMoved ||
		f["limiter_failed"] == "true" || f["level"] == "ERROR")
}

// Agrees tells whether a field of the line is as a row of the table has it.
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
