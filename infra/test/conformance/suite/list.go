package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// known is an accepted difference between the embedded AWS and another server. The entry applies to certain scripts and
// states why the embedded AWS is right.
type known struct {
	script string // a script ID; a trailing * matches any suffix
	server string
	reason string
}

// listed parses the accepted differences from YAML that maps each server and script to a reason.
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

// covers reports whether the entry applies to the given script and server.
func (d known) covers(script, server string) bool {
	if d.server != server {
		return false
	}
	if prefix, open := strings.CutSuffix(d.script, "*"); open {
		return strings.HasPrefix(script, prefix)
	}
	return script == d.script
}
