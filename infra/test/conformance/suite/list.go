package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// known is an accepted difference between the embedded AWS and another server. reason explains why the embedded AWS is
// correct.
type known struct {
	script string // script ID; a trailing * matches any suffix
	server string
	reason string
}

// listed parses the YAML list of accepted differences, which maps servers and scripts to reasons.
func listed(text string) ([]known, error) {
	var servers map[string]map[string]string
	if err := yaml.Unmarshal([]byte(text), &servers); err != nil {
		return nil, fmt.Errorf("read the listed differences: %w", err)
	}
	var all []known
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		for _, script := range slices.Sorted(maps.Keys(servers[server])) {
			d := known{script: script, server: server, reason: strings.TrimSpace(servers[server][script])}
			if d.script == "" || d.script == "*" || d.server == "" || d.reason == "" {
				return nil, errors.New("an entry names a server, scripts and a reason")
			}
			all = append(all, d)
		}
	}
	return all, nil
}

func (d known) covers(script, server string) bool {
	if d.server != server {
		return false
	}
	if prefix, open := strings.CutSuffix(d.script, "*"); open {
		return strings.HasPrefix(script, prefix)
	}
	return script == d.script
}
