package suite

import (
	"errors"
	"fmt"
	"strings"
)

// heading is the section of docs/develop/embedded-aws.md whose table lists the known differences.
const heading = "## Listed differences"

// known is a row of the table: this server may differ from these scripts, and why ours is right all the same.
type known struct {
	script string // an id; a * at its end stands for anything
	server string
	reason string
}

// listed reads the table out of the text of the document.
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

// covers tells whether the row is about this script and this server.
func (d known) covers(script, server string) bool {
	if d.server != server {
		return false
	}
	if prefix, open := strings.CutSuffix(d.script, "*"); open {
		return strings.HasPrefix(script, prefix)
	}
	return script == d.script
}
