package cda_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"recordbridge/shared/fhir/ccda/cda"
)

// exceptions lists intentional differences between the scanner and encoding/xml. A document that matches an exception
// is not compared.
var exceptions = []struct {
	why   string
	match func(document []byte) bool
}{
	{
		"namespaces are not resolved: prefixes without a declaration, and attributes that begin with xmlns",
		regexp.MustCompile(`xmlns[^=]*:[^=]*:|xmlns:?\s|xmlns[^\s=:]|\bxmlns\s*[^\s=:]|:xmlns`).Match,
	},
	{
		"an instruction or a declaration in the wrong place, or of another version or encoding, is skipped",
		regexp.MustCompile(`<\?|<![^\[-]|<!-[^-]|<!\[[^C]`).Match,
	},
	{"a control character, which XML forbids, is a space", func(document []byte) bool {
		return bytes.ContainsFunc(document, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
	}},
	{"a reference to a character that XML forbids is a space", regexp.MustCompile(`&#`).Match},
	{"a name may have any letter, digit or mark, and no entity in it", func(document []byte) bool {
		return bytes.ContainsFunc(document, func(r rune) bool { return r >= 0x80 })
	}},
	{"a document has bounds of depth, size and number", func(document []byte) bool {
		return bytes.Count(document, []byte("<")) > 100_000
	}},
}

// leniencies lists the encoding/xml errors for documents that Parse accepts because their meaning is clear.
var leniencies = []struct{ why, err string }{
	{"an attribute's value may have a <", "unescaped < inside quoted string"},
	{"a text may have a ]]>", "unescaped ]]> not in CDATA section"},
	{"a value without quotes ends before white space, > or /, whatever it has", "expected attribute name in element"},
	{"the same, where encoding/xml takes the rest of the value for a name", "invalid XML name"},
}

func isLenient(err error) bool {
	return slices.ContainsFunc(leniencies, func(l struct{ why, err string }) bool {
		return err != nil && strings.Contains(err.Error(), l.err)
	})
}

// shape writes elements, attributes and text nodes in canonical form.
type shape struct{ strings.Builder }

func (s *shape) element(name string, attributes []string) {
	slices.Sort(attributes)
	fmt.Fprintf(s, "<%s%q", name, attributes)
}

func (s *shape) text(text string) {
	if text != "" {
		fmt.Fprintf(s, "%q", text)
	}
}

// scanned returns the shape of the ClinicalDocument as parsed by Parse.
func scanned(document []byte) (string, error) {
	parsed, err := cda.Parse(document, 0)
	if err != nil {
		return "", err
	}
	var s shape
	var walk func(n *cda.Node, isNarrative bool)
	walk = func(n *cda.Node, isNarrative bool) {
		s.element(n.Name, n.Attributes())
		isNarrative = isNarrative || n.Name == "text"
		text := ""
		for child := n.FirstChild(); child != nil; child = child.NextSibling() {
			if child.Name == "" {
				text += child.Text
				continue
			}
			s.text(text)
			text = ""
			walk(child, isNarrative)
		}
		s.text(text)
		s.WriteByte('>')
	}
	walk(parsed.Root, false)
	return s.String(), nil
}

type element struct {
	name     string
	attrs    []string
	children []any // *element or string
}

// decodedByLibrary returns the shape of the ClinicalDocument as parsed by encoding/xml. As in package cda, it omits
// prefixes, namespace declarations, white space outside the narrative, and spaces around values.
func decodedByLibrary(document []byte) (string, error) {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	decoder.Strict = false
	decoder.Entity = xml.HTMLEntity
	top := &element{}
	open := []*element{top}
	narrative := 0
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		within := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local}
			for _, a := range token.Attr {
				if a.Name.Space != "xmlns" && (a.Name.Space != "" || a.Name.Local != "xmlns") {
					e.attrs = append(e.attrs, a.Name.Local+"="+strings.TrimSpace(a.Value))
				}
			}
			within.children = append(within.children, e)
			open = append(open, e)
			if narrative > 0 || e.name == "text" {
				narrative++
			}
		case xml.EndElement:
			if len(open) == 1 || within.name != token.Name.Local {
				return "", io.ErrUnexpectedEOF
			}
			open = open[:len(open)-1]
			narrative = max(0, narrative-1)
		case xml.CharData:
			if len(open) > 1 && (narrative > 0 || len(bytes.TrimSpace(token)) > 0) {
				within.children = append(within.children, string(token))
			}
		}
	}
	if len(open) > 1 || len(top.children) != 1 {
		return "", io.ErrUnexpectedEOF
	}
	root := top.find("ClinicalDocument")
	if root == nil {
		return "", io.ErrUnexpectedEOF
	}
	var s shape
	root.write(&s)
	return s.String(), nil
}

func (e *element) find(name string) *element {
	if e.name == name {
		return e
	}
	for _, child := range e.children {
		if inner, ok := child.(*element); ok {
			if found := inner.find(name); found != nil {
				return found
			}
		}
	}
	return nil
}

func (e *element) write(s *shape) {
	s.element(e.name, e.attrs)
	text := ""
	for _, child := range e.children {
		switch child := child.(type) {
		case string:
			text += child
		case *element:
			s.text(text)
			text = ""
			child.write(s)
		}
	}
	s.text(text)
	s.WriteByte('>')
}

// compare verifies that the scanner and encoding/xml either build the same tree from a document or both reject it.
// isCompared is false if an exception applies.
func compare(t *testing.T, name string, document []byte) (isCompared bool) {
	t.Helper()
	for _, e := range exceptions {
		if e.match(document) {
			return false
		}
	}
	got, err := scanned(document)
	want, wantErr := decodedByLibrary(document)
	switch {
	case isLenient(wantErr):
		return false
	case (err == nil) != (wantErr == nil):
		t.Errorf("%s: Parse says %v, encoding/xml says %v", name, err, wantErr)
	case got != want:
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("%s: Parse reads %.80s, encoding/xml %.80s", name, got[max(0, at-20):], want[max(0, at-20):])
	}
	return true
}

// documents returns the corpus documents and the project's own documents, without XML declarations, which both parsers
// treat alike.
func documents(tb testing.TB) map[string][]byte {
	tb.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{"../testdata/*.xml", "../../../../../shared/data/ccda/*.xml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			all[filepath.Base(file)] = content
		}
	}
	cases, err := filepath.Glob("../testdata/corpus/*/*.txt")
	if err != nil || len(cases) == 0 {
		tb.Fatalf("no corpus: %v", err)
	}
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for _, part := range archive.Files {
			if strings.HasSuffix(part.Name, ".xml") {
				all[filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file)] = fmt.Appendf(nil,
					"<ClinicalDocument>%s</ClinicalDocument>", part.Data)
			}
		}
	}
	instructions := regexp.MustCompile(`(?s)<\?.*?\?>`)
	for name, document := range all {
		all[name] = []byte(strings.Map(func(r rune) rune {
			if r >= 0x80 {
				return '?'
			}
			return r
		}, string(instructions.ReplaceAll(document, nil))))
	}
	return all
}

// mutated changes a document at one position by removing, repeating or moving a part or by inserting markup.
func mutated(document []byte, random *rand.Rand) []byte {
	pieces := []string{
		"<", ">", "/>", "</", "</text>", "<text>", "&", "&amp;", "&lt;", "&nbsp;", "&bad;", ";", `"`, "'", "=", " ", "\r\n",
		"\r", "\t", "<!-- c -->",
		"<![CDATA[ a & b <c> ]]>", "]]>", "<a", "<a b='c'/>", " x y=z ", " xsi:q='1'", "a:b", "--", "0",
	}
	from := random.IntN(len(document))
	to := min(len(document), from+random.IntN(12))
	switch random.IntN(4) {
	case 0:
		return slices.Concat(document[:from], document[to:])
	case 1:
		return slices.Concat(document[:to], document[from:])
	case 2:
		at := random.IntN(len(document))
		return slices.Insert(slices.Clone(document), at, document[from:to]...)
	default:
		return slices.Insert(slices.Clone(document), from, []byte(pieces[random.IntN(len(pieces))])...)
	}
}

func TestParseBuildsSameTreeAsEncodingXML(t *testing.T) {
	t.Parallel()
	all := documents(t)
	compared, mutations := 0, 0
	random := rand.New(rand.NewPCG(49, 1))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		document := all[name]
		if compare(t, name, document) {
			compared++
		}
		if len(document) > 20_000 { // The scanner depends on little context, so small documents suffice.
			at := random.IntN(len(document) - 10_000)
			document = slices.Concat([]byte("<ClinicalDocument><text>"), document[at:at+2000],
				[]byte("</text></ClinicalDocument>"))
		}
		for i := range 30 {
			if compare(t, fmt.Sprintf("%s, mutation %d", name, i), mutated(document, random)) {
				mutations++
			}
		}
	}
	t.Logf("%d documents and %d mutations compared", compared, mutations)
	if compared < len(all)*9/10 || mutations < 7000 {
		t.Errorf("%d of %d documents and %d mutations were compared", compared, len(all), mutations)
	}
}

func FuzzScanMatchesEncodingXML(f *testing.F) {
	for _, document := range documents(f) {
		if len(document) < 4<<10 {
			f.Add(document)
		}
	}
	f.Fuzz(func(t *testing.T, document []byte) { compare(t, "fuzz", document) })
}
