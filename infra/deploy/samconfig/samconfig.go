// Package samconfig reads the settings of a deployment: those in samconfig.toml, and the operator's own parameters in a
// file outside the repository. infra/deploy and ctl preflight use the package.
package samconfig

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// File is the path of the settings, relative to the repository's root.
const File = "samconfig.toml"

// Setting returns an environment's setting. A value for the deploy command overrides one for all commands. Setting
// supports only TOML tables and double-quoted strings, the forms used in SAM's own examples. It returns "" for any
// other syntax.
func Setting(config, environment, wanted string) string {
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
		if value := found[environment+"."+command+".parameters"]; value != "" {
			return value
		}
	}
	return ""
}

// Parameter is a value for a parameter of the template.
type Parameter struct{ Name, Value string }

// Argument formats the parameter for sam deploy --parameter-overrides, which splits its arguments at spaces outside
// quotation marks.
func (p Parameter) Argument() string {
	if !strings.ContainsAny(p.Value, " \"'") {
		return p.Name + "=" + p.Value
	}
	return p.Name + `="` + strings.ReplaceAll(p.Value, `"`, `\"`) + `"`
}

var parameterName = regexp.MustCompile(`^[A-Za-z0-9]+$`)

// Parameters returns an environment's parameters. own is the content of the operator's file, which replaces values of
// samconfig.toml. Each line of the file is NAME=VALUE; empty lines and lines that begin with # are ignored.
func Parameters(config, environment, own string) ([]Parameter, error) {
	var all []Parameter
	set := func(name, value string) {
		if i := slices.IndexFunc(all, func(p Parameter) bool { return p.Name == name }); i >= 0 {
			all[i].Value = value
			return
		}
		all = append(all, Parameter{name, value})
	}
	for pair := range strings.FieldsSeq(Setting(config, environment, "parameter_overrides")) {
		name, value, _ := strings.Cut(pair, "=")
		set(name, value)
	}
	number := 0
	for line := range strings.Lines(own) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, isPair := strings.Cut(line, "=")
		if !isPair || !parameterName.MatchString(name) {
			return nil, fmt.Errorf("line %d of the parameters is not NAME=VALUE", number)
		}
		set(name, value)
	}
	return all, nil
}
