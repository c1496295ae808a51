package policy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// target matches a Makefile rule, which may have several targets.
var target = regexp.MustCompile(`(?m)^([A-Za-z0-9_.%/ -]+?)\s*:(?:[^=]|$)`)

func targets(t *Tree) []string {
	rules := target.FindAllSubmatch(t.Text("Makefile"), -1)
	all := make([]string, 0, len(rules))
	for _, m := range rules {
		all = append(all, strings.Fields(string(m[1]))...)
	}
	return all
}

var (
	// make build-<name> is a placeholder, not a command
	makeCommand = regexp.MustCompile("(?:^|[;&|(` ])make ((?:[a-z][a-z0-9-]*|[A-Z]+=\\S+| )+)(<?)")
	goCommand   = regexp.MustCompile(`\bgo (?:run|test|build|vet) [^` + "`" + `|;&]*`)
	ownFolder   = regexp.MustCompile(`\./[\w/.-]*\w`)
)

// Commands reports commands in documents that can't run in this repository because a make target or folder does not
// exist.
func Commands(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if path.Ext(f.Path) != ".md" {
			continue
		}
		lines := append(fenced(string(f.Text)), codeSpan.FindAllString(codeBlock.ReplaceAllString(string(f.Text), ""), -1)...)
		for _, line := range lines {
			line, _, _ = strings.Cut(line, " # ")
			for _, name := range made(line) {
				if !slices.Contains(targets(t), name) {
					found.addf(f.Path, "make %s: the Makefile has no such target", name)
				}
			}
			for _, command := range goCommand.FindAllString(line, -1) {
				t.compiled(f.Path, strings.TrimSpace(command), &found)
			}
		}
	}
	return found.sorted()
}

// made returns the make targets mentioned in a line of code.
func made(line string) []string {
	commands := makeCommand.FindAllStringSubmatch(line, -1)
	names := make([]string, 0, len(commands))
	for _, m := range commands {
		words := strings.Fields(m[1])
		if m[2] != "" && !strings.HasSuffix(m[1], " ") {
			words = words[:len(words)-1] // make build-<name> is a placeholder, not a command
		}
		names = append(names, slices.DeleteFunc(words, func(w string) bool { return strings.Contains(w, "=") })...)
	}
	return names
}

// compiled reports folders named in a document's go command that do not exist.
func (t *Tree) compiled(document, command string, found *findings) {
	for _, folder := range ownFolder.FindAllString(command, -1) {
		if !t.paths[strings.TrimPrefix(folder, "./")] {
			found.addf(document, "%s: there is no %s", command, folder)
		}
	}
}

// mention matches a document's path, relative to the repository's root, in any text.
var mention = regexp.MustCompile(`(?:^|[^\w/.-])((?:docs/[\w/.-]+|CONTRIBUTING|README|SECURITY|CHANGELOG)\.md)\b`)

// Mentions reports missing documents named in comments, messages or the template. Without this rule, a wrong document
// name would go unnoticed until a reader needed the document.
func Mentions(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if f.isTest() || path.Ext(f.Path) == ".md" {
			continue // tests contain example paths; the rule Links covers documents
		}
		for _, m := range mention.FindAllSubmatch(f.Text, -1) {
			if name := string(m[1]); !t.paths[name] {
				found.addf(f.Path, "there is no %s", name)
			}
		}
	}
	return found.sorted()
}

// maxColumns is the maximum length of a line of prose in a document.
const maxColumns = 120

// LongLines reports lines of prose in documents that are longer than maxColumns. Table rows, code blocks and
// unbreakable lines are exempt.
func LongLines(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if path.Ext(f.Path) != ".md" {
			continue
		}
		prose := codeBlock.ReplaceAllStringFunc(string(f.Text), func(code string) string {
			return strings.Repeat("\n", strings.Count(code, "\n"))
		})
		number := 0
		for line := range strings.Lines(prose) {
			number++
			text := strings.TrimSpace(line)
			isRow := strings.HasPrefix(text, "|") || strings.HasPrefix(text, "<")
			if !isRow && len(strings.Fields(text)) > 2 && utf8.RuneCountInString(strings.TrimRight(line, "\n")) > maxColumns {
				found.addf(fmt.Sprintf("%s:%d", f.Path, number), "is longer than %d columns", maxColumns)
			}
		}
	}
	return found.sorted()
}

// fenced returns the non-empty lines in a document's code blocks, without comments and prompts.
func fenced(document string) []string {
	var lines []string
	in := false
	for line := range strings.Lines(document) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			in = !in
		case in && line != "" && !strings.HasPrefix(line, "#"):
			lines = append(lines, strings.TrimPrefix(line, "$ "))
		}
	}
	return lines
}

var (
	inlineLink    = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	referenceLink = regexp.MustCompile(`(?m)^\[[^\]]+\]:\s+<?([^\s>]+)>?`)
	codeBlock     = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	codeSpan      = regexp.MustCompile("`[^`\n]*`")
	scheme        = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	headingLine   = regexp.MustCompile(`(?m)^#{1,6}\s+(.+?)\s*#*\s*$`)
	notInAnchor   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Links reports relative links in Markdown documents whose target file, folder or heading does not exist.
func Links(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if path.Ext(f.Path) != ".md" {
			continue
		}
		text := codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(string(f.Text), ""), "``")
		matches := append(inlineLink.FindAllStringSubmatch(text, -1), referenceLink.FindAllStringSubmatch(text, -1)...)
		for _, m := range matches {
			if !scheme.MatchString(m[1]) && !t.resolves(f.Path, m[1]) {
				found.addf(f.Path, "the link %s leads nowhere", m[1])
			}
		}
	}
	return found.sorted()
}

// resolves reports whether the target of a document's relative link exists.
func (t *Tree) resolves(document, link string) bool {
	file, anchor, _ := strings.Cut(link, "#")
	to := document
	switch {
	case strings.HasPrefix(file, "/"):
		return false // GitHub would resolve the link relative to the site root
	case file != "":
		to = path.Join(path.Dir(document), file)
	}
	if !t.paths[to] {
		return false
	}
	return anchor == "" || path.Ext(to) != ".md" || slices.Contains(anchors(string(t.Text(to))), anchor)
}

// anchors returns the anchors that GitHub generates for a document's headings. The anchors of repeated headings end in
// -1, -2 and so on.
func anchors(document string) []string {
	headings := headingLine.FindAllStringSubmatch(codeBlock.ReplaceAllString(document, ""), -1)
	all := make([]string, 0, len(headings))
	seen := map[string]int{}
	for _, m := range headings {
		heading := inlineLink.ReplaceAllString(m[1], "]")
		name := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
		if n := seen[name]; n > 0 {
			all = append(all, fmt.Sprintf("%s-%d", name, n))
		} else {
			all = append(all, name)
		}
		seen[name]++
	}
	return all
}

// elsewhere matches citations of documents that are not in the repository, which readers can't look up.
var elsewhere = regexp.MustCompile(`(?i)\b(?:decisions?|architecture|spec|specification|notes?) (?:sections?|[0-9])` +
	`|\b(?:fhir|serverless|widget|emulator|service) notes?\b|\bnotes on \w+, ` +
	`section|\bissues? [0-9]{1,2}\b|\b(?:style|fhir|house)\.md\b`)

// Citations reports Go comments and other non-Markdown files that cite documents outside the repository. Markdown
// documents may cite the specification that the service implements.
func Citations(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		switch {
		case f.Go != nil:
			for _, group := range f.Go.Comments {
				text := strings.Join(strings.Fields(group.Text()), " ")
				if cited := elsewhere.FindString(text); cited != "" {
					found.addf(t.where(group.Pos()), "cites %q, which is not in the repository", cited)
				}
			}
		case path.Ext(f.Path) != ".md" && !strings.HasPrefix(f.Path, "docs/"):
			if cited := elsewhere.Find(f.Text); cited != nil {
				found.addf(f.Path, "cites %q, which is not in the repository", cited)
			}
		}
	}
	return found.sorted()
}

// maxLines is the maximum length of a page, so that a reader finds a step without searching.
const maxLines = 200

// mostSections is the number of sections up to which a page needs no list of contents.
const mostSections = 5

var section = regexp.MustCompile(`(?m)^## .+$`)

// Pages reports pages for operators and contributors that are longer than maxLines, and pages with more than
// mostSections sections that don't list them in a paragraph that begins with "Contents:". Lists of rows that tools
// search, such as docs/operate/failures.md, may be longer: table rows don't count there.
func Pages(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if path.Ext(f.Path) != ".md" || !strings.HasPrefix(f.Path, "docs/operate/") &&
			!strings.HasPrefix(f.Path, "docs/develop/") {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(string(f.Text), "\n"), "\n")
		if f.Path == "docs/operate/failures.md" {
			lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "|") })
		}
		if n := len(lines); n > maxLines {
			found.addf(f.Path, "has %d lines, more than %d", n, maxLines)
		}
		sections := len(section.FindAll([]byte(codeBlock.ReplaceAllString(string(f.Text), "")), -1))
		if sections > mostSections && !strings.Contains(string(f.Text), "\nContents: [") {
			found.addf(f.Path, "has %d sections and no contents", sections)
		}
	}
	return found.sorted()
}

// exampleLines is the number of lines of code below which an example application stays, so that a reader can copy it.
const exampleLines = 200

var (
	exampleProgram = regexp.MustCompile(`^docs/examples/\w+/main\.\w+$`)
	lineOfCode     = regexp.MustCompile(`(?m)^[ \t]*[^ \t\n#/].*$`) // neither blank nor only a comment
)

// Examples reports example applications whose program has exampleLines lines of code or more.
func Examples(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if n := len(lineOfCode.FindAll(f.Text, -1)); exampleProgram.MatchString(f.Path) && n >= exampleLines {
			found.addf(f.Path, "has %d lines of code, not fewer than %d", n, exampleLines)
		}
	}
	return found.sorted()
}

var evidencePath = regexp.MustCompile("`((?:infra|shared|functions|[.]ci)/[\\w/.-]+)`")

// Evidence reports tests that docs/operate/hipaa.md cites and that don't exist.
func Evidence(t *Tree) []Finding {
	const document = "docs/operate/hipaa.md"
	var found findings
	for _, m := range evidencePath.FindAllSubmatch(t.Text(document), -1) {
		if name := string(m[1]); !t.paths[name] {
			found.addf(document, "there is no %s", name)
		}
	}
	return found.sorted()
}
