package policy

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// lintersFile is where the linters are set.
const lintersFile = ".golangci.yml"

// lintConfig is the part of the linters' configuration that decides how strict it is.
type lintConfig struct {
	Issues struct {
		PerLinter int  `yaml:"max-issues-per-linter"`
		Same      int  `yaml:"max-same-issues"`
		Unique    bool `yaml:"uniq-by-line"`
	} `yaml:"issues"`
	Linters struct {
		Enable   []string `yaml:"enable"`
		Disable  []string `yaml:"disable"`
		Settings struct {
			NoLint struct {
				Explanation bool `yaml:"require-explanation"`
				Specific    bool `yaml:"require-specific"`
				Unused      bool `yaml:"allow-unused"`
			} `yaml:"nolintlint"`
		} `yaml:"settings"`
		Exclusions struct {
			Paths []string `yaml:"paths"`
			Rules []struct {
				Path    string   `yaml:"path"`
				Linters []string `yaml:"linters"`
			} `yaml:"rules"`
		} `yaml:"exclusions"`
	} `yaml:"linters"`
	Formatters struct {
		Enable []string `yaml:"enable"`
	} `yaml:"formatters"`
}

// Linters finds what has been loosened in the linters' configuration: a linter of enabled that is missing, an
// exclusion (path to linters) that is not in excluded, hidden issues, or nolint comments without name and reason.
func Linters(t *Tree, enabled []string, excluded map[string][]string) []Finding {
	var found findings
	var c lintConfig
	if err := yaml.Unmarshal(t.Text(lintersFile), &c); err != nil {
		found.addf(lintersFile, "%v", err)
		return found
	}
	on := append(slices.Clone(c.Linters.Enable), c.Formatters.Enable...)
	for _, name := range enabled {
		if !slices.Contains(on, name) || slices.Contains(c.Linters.Disable, name) {
			found.addf(lintersFile, "%s is not enabled", name)
		}
	}
	if c.Issues.PerLinter != 0 || c.Issues.Same != 0 || c.Issues.Unique {
		found.addf(lintersFile, "issues are hidden: max-issues-per-linter and max-same-issues are 0, uniq-by-line is false")
	}
	if n := c.Linters.Settings.NoLint; !n.Explanation || !n.Specific || n.Unused {
		found.addf(lintersFile, "nolintlint asks for an explanation and a linter's name, and allows no unused nolint")
	}
	for _, p := range c.Linters.Exclusions.Paths {
		found.addf(lintersFile, "the path %s is excluded from every linter", p)
	}
	for _, rule := range c.Linters.Exclusions.Rules {
		for _, name := range rule.Linters {
			if !slices.Contains(excluded[rule.Path], name) {
				found.addf(lintersFile, "%s is not checked in %s", name, rule.Path)
			}
		}
	}
	return found.sorted()
}
