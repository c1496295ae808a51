// Package runbook reads the commands of a runbook as they are written, and runs them.
package runbook

import (
	"fmt"
	"strings"
	"unicode"
)

// Section is a section of a Markdown page.
type Section struct {
	Page    string // path of the page
	Heading string // heading of the section, without its marks
	Script  string // content of the section's sh blocks, in order
}

// Find returns the section that a reference such as keys.md#enable-a-key names, including its subsections. page is the
// text of the reference's page. Find returns an error if the section is missing or contains no commands.
func Find(reference, page string) (Section, error) {
	name, slug, _ := strings.Cut(reference, "#")
	found := Section{Page: name}
	var script strings.Builder
	level, fence := 0, ""
	for line := range strings.Lines(page) {
		mark, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && fence != "":
			fence = ""
		case isFence:
			fence = "```" + mark
		case fence == "```sh" && found.Heading != "":
			script.WriteString(strings.TrimPrefix(line, "   ")) // a block in a list item is indented
		case fence == "" && strings.HasPrefix(line, "#"):
			heading := strings.TrimLeft(line, "#")
			depth := len(line) - len(heading)
			if found.Heading != "" && depth <= level {
				return found.with(script.String(), reference)
			}
			if found.Heading == "" && Slug(heading) == slug {
				found.Heading, level = strings.TrimSpace(heading), depth
			}
		}
	}
	return found.with(script.String(), reference)
}

func (s Section) with(script, reference string) (Section, error) {
	if s.Heading == "" {
		return Section{}, fmt.Errorf("%s: the page has no such heading", reference)
	}
	if s.Script = script; Commands(script) == 0 {
		return Section{}, fmt.Errorf("%s: the section has no commands", reference)
	}
	return s, nil
}

// Slug returns the fragment by which GitHub links to a heading.
func Slug(heading string) string {
	var slug strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			slug.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			slug.WriteRune(r)
		}
	}
	return slug.String()
}

// Commands returns the number of commands in a script. Comments, the preparation of the shell, lines that continue a
// command and the frames of loops don't count.
func Commands(script string) int {
	count, continued := 0, false
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if !continued && line != "" && !strings.HasPrefix(line, "#") && line != Prepare && !isLoop(line) {
			count++
		}
		continued = strings.HasSuffix(line, `\`)
	}
	return count
}

// isLoop reports whether a line only begins or ends a loop, or defines a function.
func isLoop(line string) bool {
	return line == "done" || strings.HasPrefix(line, "for ") && strings.HasSuffix(line, "; do") ||
		strings.Contains(line, "() {")
}

// Prepare is the line that defines the shell functions of the runbooks' commands.
const Prepare = ". infra/ctl/shell.sh"
