package suite

import (
	"errors"
	"fmt"
	"strings"
)

// heading is the section of docs/develop/embedded-aws.md whose table lists the known differences.
const heading = "## Listed differences"

// known is a row of the table: a difference that is accepted for some scripts and one server, with the reason why the
// embedded AWS is right.
type known struct {
	script string // a script id; a trailing * matches any suffix
	server string
	reason string
}

// listed parses the table of known differences in the document's text.
func listed(text string) ([]known, error) {
	_, section, ok := strings.Cut(text, heading+"\n")
	if !ok {
		return nil, fmt.Errorf("the section %q is not there", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var all []known
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		if len(cells) != 3 {
			return nil, fmt.Errorf("%q has not three columns", line)
		}
		d := known{strings.Trim(strings.TrimSpace(cells[0]), "`"), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])}
		if d.script == "*" || d.server == "" || d.reason == "" {
			return nil, errors.New("a row names scripts, a server and a reason")
		}
		all = append(all, d)
	}
	return all, nil
}

// covers reports whether the row applies to this script and this server.
func (d known) covers(script, server string) bool {
	if d.server != server {
		return false
	}
	if prefix, open := strings.CutSuffix(d.script, "*"); open {
		return strings.HasPrefix(script, prefix)
	}
	return script == d.script
}
