package scene

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// ErrNoLine means that the functions have logged no line that matches.
var ErrNoLine = errors.New("no log line matches")

// Line returns the first log line of a function, in JSON, that has all the given fields. A field has the form
// name=value, or name~text if the value contains the text.
func (s *Scene) Line(fields ...string) (string, error) {
	text, err := os.ReadFile(s.Log)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		_, object, ok := strings.Cut(line, " | ")
		var found map[string]any
		if !ok || json.Unmarshal([]byte(object), &found) != nil {
			continue
		}
		if !slices.ContainsFunc(fields, func(field string) bool { return !matches(found, field) }) {
			return strings.TrimSpace(object), nil
		}
	}
	return "", fmt.Errorf("%w %v", ErrNoLine, fields)
}

func matches(line map[string]any, field string) bool {
	if name, part, ok := strings.Cut(field, "~"); ok {
		return strings.Contains(fmt.Sprint(line[name]), part)
	}
	name, want, _ := strings.Cut(field, "=")
	value, ok := line[name]
	return ok && fmt.Sprint(value) == want
}
