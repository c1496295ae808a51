package ccdatest_test

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
	"recordbridge/shared/fhir/ccda"
)

// passage is an XML element, or a text node if name is empty. parts lists its children in document order.
type passage struct {
	name  string
	attrs map[string]string
	parts []*passage
	text  string
}

func readPassage(text string) (*passage, error) {
	root := &passage{}
	open := []*passage{root}
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		within := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			p := &passage{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				p.attrs[a.Name.Local] = a.Value
			}
			within.parts = append(within.parts, p)
			open = append(open, p)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			within.parts = append(within.parts, &passage{text: string(token)})
		}
	}
}

// letters returns the passage's text without white space.
func (p *passage) letters() string {
	var b strings.Builder
	for _, part := range p.all() {
		b.WriteString(part.text)
	}
	return strings.Join(strings.Fields(b.String()), "")
}

func (p *passage) all() []*passage {
	list := []*passage{p}
	for _, part := range p.parts {
		list = append(list, part.all()...)
	}
	return list
}

// child returns the first child with the given name, or an empty passage if there is none.
func (p *passage) child(name string) *passage {
	for _, part := range p.parts {
		if part.name == name {
			return part
		}
	}
	return &passage{}
}

// shape counts the rows, cells, list items and line breaks in a passage, on which its readability depends.
func (p *passage) shape() map[string]int {
	counts := map[string]int{}
	for _, part := range p.all() {
		switch part.name {
		case "tr", "td", "th", "br":
			counts[part.name]++
		case "item", "li":
			counts["li"]++
		}
	}
	return counts
}

// readable lists the FHIR narrative elements (narrative.html) that the converter may use.
var readable = strings.Fields(`div p span table thead tbody tfoot tr th td caption colgroup col ul ol li sub sup br hr
	a b i u em strong h1 h2 h3 pre`)

// openable parses a narrative. If a browser can't display the narrative or it contains active content, openable returns
// nil and the reason.
func openable(div string) (*passage, string) {
	p, err := readPassage(div)
	if err != nil {
		return nil, err.Error()
	}
	for _, part := range p.all()[1:] {
		if part.name != "" && !slices.Contains(readable, part.name) {
			return nil, "it has the element " + part.name
		}
		for name, value := range part.attrs {
			if !slices.Contains([]string{"id", "xmlns", "colspan", "rowspan", "style", "href"}, name) {
				return nil, "it has the attribute " + name
			}
			scheme, _, _ := strings.Cut(value, ":")
			if name == "href" && !strings.HasPrefix(value, "#") &&
				!slices.Contains([]string{"http", "https", "mailto", "urn"}, scheme) {
				return nil, "it links to " + value
			}
		}
	}
	return p, ""
}

// opened holds the displayable text of the resources.
type opened struct {
	narratives []*passage
	plain      []string // text/plain attachments, with white space removed
}

// openAll collects the text of every narrative and attachment. It fails the test if any narrative or attachment can't
// be displayed.
func openAll(t *testing.T, resources []map[string]any) (o opened) {
	t.Helper()
	add := func(div string) {
		p, why := openable(div)
		if p == nil {
			t.Errorf("%s: %.300s", why, div)
			return
		}
		o.narratives = append(o.narratives, p)
	}
	var visit func(value any)
	visit = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, one := range value {
				visit(one)
			}
		case map[string]any:
			if div, ok := value["div"].(string); ok {
				add(div)
			}
			if data, ok := value["data"].(string); ok {
				content, err := base64.StdEncoding.DecodeString(data)
				if err != nil {
					t.Error(err)
				}
				switch value["contentType"] {
				case "application/xhtml+xml":
					add(string(content))
				case "text/plain":
					o.plain = append(o.plain, strings.Join(strings.Fields(string(content)), ""))
				}
			}
			for _, one := range value {
				visit(one)
			}
		}
	}
	for _, r := range resources {
		visit(r)
	}
	return o
}

// holdsSection reports whether a displayable narrative has the same text as the section and the same numbers of rows,
// cells, list items and line breaks.
func (o opened) holdsSection(text *passage) bool {
	return slices.ContainsFunc(o.narratives, func(p *passage) bool {
		return p.letters() == text.letters() && equalCounts(p.shape(), text.shape())
	})
}

func equalCounts(a, b map[string]int) bool {
	for _, name := range []string{"tr", "td", "th", "li", "br"} {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

func (o opened) holdsNote(words string) bool {
	return slices.ContainsFunc(o.narratives, func(p *passage) bool { return strings.Contains(p.letters(), words) }) ||
		slices.ContainsFunc(o.plain, func(p string) bool { return strings.Contains(p, words) })
}

// checkTexts requires that the text of every section and note can be displayed, and that the conversion report is
// correct. lost is the expected number of texts reported as lost. checkTexts returns the numbers of sections and note
// texts.
func checkTexts(t *testing.T, document []byte, lost int) (sections, notes int) {
	t.Helper()
	root, err := readPassage(string(document))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]*passage{}
	for _, p := range root.all() {
		if id := p.attrs["ID"]; id != "" && ids[id] == nil {
			ids[id] = p
		}
	}
	o := openAll(t, resourcesOf(t, convert(t, document)))
	for _, p := range root.all() {
		text := p.child("text")
		switch {
		case p.name == "section" && text.letters() != "":
			sections++
			if !o.holdsSection(text) {
				t.Errorf("the text of section %s cannot be opened whole: %.200s", p.child("code").attrs["code"], text.letters())
			}
		case p.name == "act" && isNote(p) && text.attrs["representation"] == "":
			referred := ids[strings.TrimPrefix(text.child("reference").attrs["value"], "#")]
			for _, words := range []*passage{text, referred} {
				if words == nil || words.letters() == "" {
					continue
				}
				notes++
				if !o.holdsNote(words.letters()) {
					t.Errorf("a note cannot be opened: %.200s", words.letters())
				}
			}
		}
	}
	checkCounted(t, document, sections, lost)
	return sections, notes
}

func isNote(act *passage) bool {
	return slices.ContainsFunc(act.parts, func(p *passage) bool {
		return p.name == "templateId" && p.attrs["root"] == "2.16.840.1.113883.10.20.22.4.202"
	})
}

// checkCounted checks the report's totals: it must count at least as many texts as the document has sections, and
// exactly as many lost texts as missing specifies.
func checkCounted(t *testing.T, document []byte, sections, missing int) {
	t.Helper()
	report, err := ccda.Convert(document, func(ccda.Resource) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	kept, lost := 0, 0
	for _, s := range report.Documents[0].Sections {
		kept, lost = kept+s.Texts, lost+s.TextsLost
	}
	if kept < sections || lost != missing {
		t.Errorf("the report has %d texts, and %d lost (want %d), of %d sections", kept, lost, missing, sections)
	}
}

func TestConvertPreservesTextOfEverySection(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{ownFolder, publicFolder} {
		names, documents := documentsIn(t, folder)
		for _, name := range names {
			sections, notes := checkTexts(t, documents[name], 0)
			t.Logf("%s: %d sections and %d notes can be read", name, sections, notes)
		}
	}
	for _, c := range ccdatest.Corpus(t, os.DirFS(ownFolder+"/corpus")) {
		lost := 0
		if c.Name == "notes/lost" { // this note references a nonexistent narrative
			lost = 1
		}
		checkTexts(t, []byte(c.Document), lost)
	}
}

// TestHoldsSectionRejectsMissingOrChangedText covers text that is missing, changed, malformed or active.
func TestHoldsSectionRejectsMissingOrChangedText(t *testing.T) {
	t.Parallel()
	source, err := readPassage(`<text>Rest <list><item>one</item><item>two</item></list></text>`)
	if err != nil {
		t.Fatal(err)
	}
	for div, want := range map[string]bool{
		`<div>Rest <ul><li>one</li><li>two</li></ul></div>`:                         true,
		`<div>Rest <ul><li>one</li></ul></div>`:                                     false,
		`<div>Rest one two</div>`:                                                   false,
		`<div>Rest <ul><li>one</li><li>two</li></ul>`:                               false,
		`<div>Rest <ul><li onclick="x">one</li><li>two</li></ul></div>`:             false,
		`<div>Rest <ul><li>one</li><li><script>two</script></li></ul></div>`:        false,
		`<div>Rest <a href="javascript:x"><ul><li>one</li></ul></a></div>`:          false,
		`<div>Rest <ul><li>one</li><li><a href="https://x">two</a></li></ul></div>`: true,
	} {
		p, _ := openable(div)
		if got := p != nil && (opened{narratives: []*passage{p}}).holdsSection(source); got != want {
			t.Errorf("%s: %v", div, got)
		}
	}
}
