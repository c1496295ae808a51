package main

import (
	"strconv"
	"strings"
)

// setting is a setting of samconfig.toml for an environment's deployment: that of deploy goes before that for all commands. It reads no more of
// TOML than tables and strings in double quotes, which is all that SAM's own examples have; what it does not understand is empty.
func setting(config string, env environment, wanted string) string {
	found := map[string]string{}
	table := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(line, "[] ")
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) != wanted {
			continue
		}
		if text, err := strconv.Unquote(strings.TrimSpace(value)); err == nil {
			found[table] = text
		}
	}
	for _, command := range []string{"deploy", "global"} {
		if value := found[string(env)+"."+command+".parameters"]; value != "" {
			return value
		}
	}
	return ""
}
