package ccdatest_test

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// mutation is a variation found in real senders' documents. If same is set, the mutation preserves the document's
// meaning, and the converted resources must be byte-identical. A mutation for which same is not set may remove
// information.
type mutation struct {
	name string
	same bool
	of   func(document string) []byte
}

var (
	templateID      = regexp.MustCompile(`<templateId[^>]*/>\s*`)
	version         = regexp.MustCompile(`(<templateId root="[0-9.]+") extension="[0-9-]+"`)
	elementID       = regexp.MustCompile(`<id (?:root|extension|nullFlavor)="[^>]*/>\s*`)
	startOrEnd      = regexp.MustCompile(`<(/?)([A-Za-z])`)
	declaration     = regexp.MustCompile(`^\s*<\?xml[^>]*\?>`)
	between         = regexp.MustCompile(`>\s+<`)
	uuid            = regexp.MustCompile(`root="[0-9a-f]{8}-[0-9a-f-]{27}"`)
	displayName     = regexp.MustCompile(` displayName="[^"]*"`)
	sectionCode     = regexp.MustCompile(`(<section[^>]*>\s*(?:<templateId[^>]*/>\s*)+(?:<id [^>]*/>\s*)?)<code[^>]*/>`)
	sectionTemplate = regexp.MustCompile(`<section[^>]*>\s*(?:<templateId[^>]*/>\s*)+`)
	entryType       = regexp.MustCompile(`<entry typeCode="DRIV">`)
)

func mutations() []mutation {
	return []mutation{
		{"without templateIds", false, func(d string) []byte { return []byte(templateID.ReplaceAllString(d, "")) }},
		{
			"of C-CDA R1.1, whose templates have no version", false,
			func(d string) []byte { return []byte(version.ReplaceAllString(d, "$1")) },
		},
		{"of a version to come", true, func(d string) []byte {
			return []byte(version.ReplaceAllString(d, `$1 extension="2031-01-01"`))
		}},
		{"without ids in its entries", false, func(d string) []byte {
			header, body, _ := strings.Cut(d, "<structuredBody>")
			return []byte(header + "<structuredBody>" + elementID.ReplaceAllString(body, ""))
		}},
		{"with UUIDs in upper case", true, func(d string) []byte {
			return []byte(uuid.ReplaceAllStringFunc(d,
				func(root string) string { return `root="` + strings.ToUpper(root[len(`root="`):]) }))
		}},
		{"with a prefix", true, func(d string) []byte { return []byte(withPrefix(d)) }},
		{"in UTF-16, little endian", true, func(d string) []byte { return inUTF16(d, binary.LittleEndian, true) }},
		{"in UTF-16, big endian", true, func(d string) []byte { return inUTF16(d, binary.BigEndian, true) }},
		{"in UTF-16 without a mark", true, func(d string) []byte { return inUTF16(d, binary.LittleEndian, false) }},
		{"in UTF-8 with a mark", true, func(d string) []byte { return []byte("\ufeff" + d) }},
		{"in UTF-8 that says it is UTF-16", true, func(d string) []byte {
			return []byte(declaration.ReplaceAllString(d, `<?xml version="1.0" encoding="UTF-16"?>`))
		}},
		{
			"without a declaration, behind blank lines", true,
			func(d string) []byte { return []byte("\n\n  " + declaration.ReplaceAllString(d, "")) },
		},
		{"on one line", false, func(d string) []byte { return []byte(between.ReplaceAllString(d, "><")) }},
		{"without display names", false, func(d string) []byte { return []byte(displayName.ReplaceAllString(d, "")) }},
		{
			"whose sections have no codes", false,
			func(d string) []byte { return []byte(sectionCode.ReplaceAllString(d, "$1")) },
		},
		{
			"whose sections have no templates", true,
			func(d string) []byte { return []byte(sectionTemplate.ReplaceAllString(d, "<section>\n")) },
		},
		{"with entries of no type", true, func(d string) []byte { return []byte(entryType.ReplaceAllString(d, "<entry>")) }},
	}
}

// withPrefix adds a namespace prefix to every unprefixed element, as some senders' XML libraries do.
func withPrefix(document string) string {
	document = strings.Replace(document, `xmlns="urn:hl7-org:v3"`, `xmlns:n1="urn:hl7-org:v3"`, 1)
	document = startOrEnd.ReplaceAllString(document, "<${1}n1:$2")
	return strings.NewReplacer("n1:sdtc:", "sdtc:").Replace(document)
}

func inUTF16(document string, order binary.AppendByteOrder, mark bool) []byte {
	document = declaration.ReplaceAllString(document, `<?xml version="1.0" encoding="UTF-16"?>`)
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, unit := range utf16.Encode([]rune(document)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// facts returns the facts that remain in the document after the mutation.
func (m mutation) facts(t *testing.T, document []byte) []fact {
	t.Helper()
	if m.same {
		return factsOf(readXML(t, document))
	}
	return factsOf(readXML(t, m.of(string(document))))
}

func TestConvertPreservesFactsAcrossMutations(t *testing.T) {
	t.Parallel()
	names, documents := documentsIn(t, ownFolder)
	public, more := documentsIn(t, publicFolder)
	if len(public) == 0 || testing.Short() {
		public = nil
		t.Log("without the documents of " + publicFolder)
	}
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			all, changed := make([]judged, 0, len(names)+len(public)), false
			for _, name := range names {
				written := m.of(string(documents[name]))
				out := convert(t, written)
				changed = changed || !bytes.Equal(written, documents[name])
				if m.same && !bytes.Equal(out, convert(t, documents[name])) {
					t.Errorf("%s: the resources of %s are others", m.name, name)
				}
				all = append(all, judged{name, recall(m.facts(t, documents[name]), contentOf(t, out))})
				checkRecall(t, name, all[len(all)-1].counts)
			}
			if !changed {
				t.Errorf("%s: the documents are as they were", m.name)
			}
			theirs := make([]judged, 0, len(public))
			for _, name := range public {
				theirs = append(theirs,
					judged{name, recall(m.facts(t, more[name]), contentOf(t, convert(t, m.of(string(more[name])))))})
			}
			t.Log(table(slices.Concat(all, theirs)))
			checkRecall(t, "the public documents", total(theirs))
		})
	}
}
