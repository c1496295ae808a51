// Package prose extracts the sentences that people read from the repository's files. The sentences come from documents,
// comments, test names and strings. The reading check samples the sentences (infra/sample), and infra/test/policy
// rejects some patterns.
package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Groups of sentences, one for each kind of reader.
const (
	Comment   = "comment"
	Test      = "test"
	Document  = "document"
	Changelog = "changelog"
	String    = "string"
	Patient   = "patient"
	Dashboard = "dashboard"
)

// Groups returns the names of all sentence groups.
func Groups() []string {
	return []string{Comment, Test, Document, Changelog, String, Patient, Dashboard}
}

// Sentence is a sentence in a file, or a test name.
type Sentence struct {
	Group, Path, Text string
	First, Last       int // first and last line of the passage that contains the sentence
}

// Of returns the sentences in a file, given the file's path in the repository. For test data and unsupported kinds of
// files, the result is empty.
func Of(file, content string) []Sentence {
	switch {
	case strings.Contains(file, "testdata/"):
		return nil
	case file == "CHANGELOG.md":
		return ofMarkdown(Changelog, file, content)
	case path.Ext(file) == ".md":
		return ofMarkdown(Document, file, content)
	case path.Ext(file) == ".go":
		return ofGo(file, content)
	case path.Ext(file) == ".ts", path.Ext(file) == ".tsx":
		return ofTypeScript(file, content)
	default:
		return nil
	}
}

// wordsOfSentence is the minimum number of words for a passage to count as a sentence.
const wordsOfSentence = 4

var sentenceEnd = regexp.MustCompile(`([.!?][")'”]?)\s+([A-Z¿¡\x60*\[])`)

// split appends a passage's sentences to all.
func split(all []Sentence, group, file string, first, last int, passage string) []Sentence {
	passage = strings.Join(strings.Fields(passage), " ")
	for part := range strings.SplitSeq(sentenceEnd.ReplaceAllString(passage, "$1\n$2"), "\n") {
		if len(strings.Fields(part)) >= wordsOfSentence {
			all = append(all, Sentence{Group: group, Path: file, Text: part, First: first, Last: last})
		}
	}
	return all
}

var (
	fence     = regexp.MustCompile("^\\s*(```|~~~)")
	startsNew = regexp.MustCompile(`^\s*([-*]|\d+\.|\||#+|>)\s`)
	codeSpan  = regexp.MustCompile("`[^`]*`")
)

// The first and last line of a table that make docs generates from code (infra/marked).
const startOfGenerated, endOfGenerated = "<!-- table ", "<!-- end -->"

// ofMarkdown extracts prose, list items and table cells, but not code, cells that consist mostly of code spans, or
// generated tables.
func ofMarkdown(group, file, content string) []Sentence {
	var all []Sentence
	var passage []string
	first, inCode, isGenerated := 1, false, false
	flush := func(next int) {
		all = split(all, group, file, first, max(first, next-1), strings.Join(passage, " "))
		passage, first = nil, next
	}
	number := 0
	for line := range strings.Lines(content) {
		number++
		switch {
		case strings.HasPrefix(line, startOfGenerated), strings.HasPrefix(line, endOfGenerated):
			flush(number)
			isGenerated = strings.HasPrefix(line, startOfGenerated)
		case isGenerated:
		case fence.MatchString(line):
			flush(number)
			inCode = !inCode
		case inCode:
		case strings.TrimSpace(line) == "":
			flush(number)
		case strings.HasPrefix(line, "|"):
			flush(number)
			for cell := range strings.SplitSeq(strings.Trim(line, "| \n"), "|") {
				if len(strings.Fields(codeSpan.ReplaceAllString(cell, ""))) >= wordsOfSentence {
					all = split(all, group, file, number, number, cell)
				}
			}
		case startsNew.MatchString(line):
			flush(number)
			passage = append(passage, startsNew.ReplaceAllString(line, ""))
		default:
			if len(passage) == 0 {
				first = number
			}
			passage = append(passage, line)
		}
	}
	flush(number + 1)
	return all
}

var (
	judgedName = regexp.MustCompile(`^(Test|Benchmark|Fuzz)[A-Z0-9]`)
	aDirective = regexp.MustCompile(`^//(go:|nolint|lint:)`)
)

// ofGo extracts comments, test names, and strings of several words. Strings in tests, which are mostly data, are
// ignored.
func ofGo(file, content string) []Sentence {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, content, parser.ParseComments)
	if err != nil || ast.IsGenerated(parsed) {
		return nil
	}
	line := func(at token.Pos) int { return files.Position(at).Line }
	var all []Sentence
	for _, group := range parsed.Comments {
		if !aDirective.MatchString(group.List[0].Text) {
			all = split(all, Comment, file, line(group.Pos()), line(group.End()), group.Text())
		}
	}
	isTest := strings.HasSuffix(file, "_test.go")
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.FuncDecl:
			if isTest && judgedName.MatchString(n.Name.Name) {
				at := line(n.Pos())
				all = append(all, Sentence{Group: Test, Path: file, Text: n.Name.Name, First: at, Last: at})
			}
		case *ast.BasicLit:
			if value, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && !isTest {
				all = split(all, String, file, line(n.Pos()), line(n.End()), value)
			}
		}
		return true
	})
	return all
}

var (
	openComment = regexp.MustCompile(`^\s*/\*+(.*)$`)
	endComment  = regexp.MustCompile(`\s*\*+/.*$`)
	inComment   = regexp.MustCompile(`^\s*\*?\s?`)
	lineComment = regexp.MustCompile(`(?:^|\s)//\s(.*)$`)
	titleOfTest = regexp.MustCompile("^\\s*(?:test|it|describe)\\(\\s*[\"'`](.*)[\"'`],")
	quoted      = regexp.MustCompile("\"([^\"\\n]*)\"|'([^'\\n]*)'|`([^`\\n]*)`|>([^<>{}\\n]+)<")
)

// codeMarks matches a quoted passage that is code rather than text.
var codeMarks = regexp.MustCompile(`&&|\|\||=>|===|\(\?|\): |\$\{.*/\w+/|\\$|^"[\d ]+|[(,]\w+: \w+,`)

// blockComment collects the lines of a comment between /* and */.
type blockComment struct {
	first int // number of the comment's first line; 0 outside a comment
	lines []string
}

// read adds a line. inside reports whether the line belongs to a comment, and ended whether the comment ends on the
// line.
func (b *blockComment) read(line string, number int) (inside, ended bool) {
	if m := openComment.FindStringSubmatch(line); m != nil && b.first == 0 {
		b.first, line = number, m[1]
	}
	if b.first == 0 {
		return false, false
	}
	b.lines = append(b.lines, inComment.ReplaceAllString(endComment.ReplaceAllString(line, ""), ""))
	return true, endComment.MatchString(line)
}

// ofTypeScript reads comments and test titles. Quoted strings and text between tags are read only if they do not span
// lines. A trailing comment belongs to its line.
func ofTypeScript(file, content string) []Sentence {
	group := String
	switch {
	case path.Base(file) == "glossary.ts": // a list of words to avoid
	case strings.HasPrefix(file, "shared/ui/dashboard/testing/"), strings.HasPrefix(file, "shared/ui/dashboard/api/"):
	case strings.HasPrefix(file, "shared/ui/dashboard/"):
		group = Dashboard
	case strings.HasPrefix(file, "shared/ui/kit/words/"), strings.HasPrefix(file, "shared/ui/embed/"):
		group = Patient
	}
	isTest := strings.Contains(file, ".test.") || strings.Contains(file, ".spec.") || strings.Contains(file, "/e2e/")
	var all []Sentence
	var block blockComment
	number := 0
	for line := range strings.Lines(content) {
		number++
		line = strings.TrimRight(line, "\n")
		if inside, ended := block.read(line, number); inside {
			if ended {
				all = split(all, Comment, file, block.first, number, strings.Join(block.lines, " "))
				block = blockComment{}
			}
			continue
		}
		if m := lineComment.FindStringSubmatch(line); m != nil {
			all = split(all, Comment, file, number, number, m[1])
			line = strings.TrimSuffix(line, m[0])
		}
		if m := titleOfTest.FindStringSubmatch(line); m != nil {
			all = append(all, Sentence{Group: Test, Path: file, Text: m[1], First: number, Last: number})
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			if !isTest && !codeMarks.MatchString(m[0]) {
				all = split(all, group, file, number, number, strings.Join(m[1:], ""))
			}
		}
	}
	return all
}
