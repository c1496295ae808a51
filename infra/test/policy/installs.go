package policy

import (
	"iter"
	"path"
	"regexp"
	"strings"
)

// install describes a command that installs packages, and the options that pin the installed code by content.
type install struct {
	program string
	command string // regular expressions for the rest of the line and for the required options
	needs   string
	inFile  bool // whether the required options may appear anywhere in the file
	why     string
}

var installs = []install{
	{program: "npm", command: `\s.*\b(install|i|add)\s`, needs: `$^`, why: "installs without a lock: use npm ci"},
	{
		program: "npm", command: `\s+ci\b`, needs: `\s--ignore-scripts\b`,
		why: "runs the scripts of packages: add --ignore-scripts",
	},
	{program: "npx", command: `\s`, needs: `^npx --no\s`, why: "installs what is not there: use npx --no"},
	{
		program: "pip", command: `3?\s+install\s`, needs: `\s--require-hashes\s`,
		why: "installs without hashes: add --require-hashes",
	},
	{
		program: "pip", command: `3?\s+install\s`, needs: `\s--only-binary :all:\s`,
		why: "builds packages with tools that have no hashes: add --only-binary :all:",
	},
	{
		program: "mvn", command: `\s`, needs: `\bsha256sum --check\b`, inFile: true,
		why: "installs without hashes: check them by sha256sum --check",
	},
	{program: "go ", command: `(install|run)\s.*\S@`, needs: `\S@(v\d|\$[A-Z])`, why: "installs no fixed version"},
	{program: "curl", command: `\s.*\|\s*\S*sh\b`, needs: `$^`, why: "runs what it downloads"},
	{program: "wget", command: `\s.*\|\s*\S*sh\b`, needs: `$^`, why: "runs what it downloads"},
}

// Installs reports commands that install packages without a lock file or hashes, or that run install scripts. It checks
// scripts, the Makefile and Go programs, but not comments or tests.
func Installs(t *Tree) []Finding {
	var found findings
	for _, i := range installs {
		command, needs := regexp.MustCompile(`^`+i.program+i.command), regexp.MustCompile(i.needs)
		for _, f := range t.Files {
			if f.isTest() || f.Go == nil && path.Base(f.Path) != "Makefile" && !isScript(f.Path) && path.Ext(f.Path) != ".sh" {
				continue
			}
			for line := range commands(f, i.program) {
				if command.MatchString(line) && !needs.MatchString(line) && (!i.inFile || !needs.Match(f.Text)) {
					found.addf(f.Path, "%s", i.why)
				}
			}
		}
	}
	return found.sorted()
}

// commands yields each mention of program in f, together with the rest of its line. It removes quotes and joins lines
// that end in a backslash. In Go files, commands yields only lines that start a process.
func commands(f File, program string) iter.Seq[string] {
	return func(yield func(string) bool) {
		text := string(f.Text)
		if !strings.Contains(text, program) || f.Go != nil && !strings.Contains(text, "exec.Command") {
			return
		}
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") || f.Go != nil &&
				!strings.Contains(line, "exec.Command") {
				continue
			}
			line = strings.NewReplacer(`", "`, " ", `"`, "").Replace(line) + " "
			for at := strings.Index(line, program); at >= 0; at = strings.Index(line, program) {
				if !yield(line[at:]) {
					return
				}
				line = line[at+len(program):]
			}
		}
	}
}
