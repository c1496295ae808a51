package document_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"testing"

	"recordbridge/shared/tefca/sim/document"
)

// TestWriteEscapesText checks that documents are valid XML and preserve the patient's name, whatever characters it
// contains.
func TestWriteEscapesText(t *testing.T) {
	t.Parallel()
	const odd = `"><x a='1'>&amp;]]>` + "\u00e4"
	d := document.Document{
		ID: document.ID{Root: "2.999.1.1.9", Extension: odd}, Kind: document.Progress, Made: "202401021000+0000",
		Visit: document.Visit{From: "202401021000+0000", To: "202401021030+0000"},
		Note:  document.Note{Words: odd, Noted: document.Noted{At: "202401021030+0000"}},
	}
	content := document.Write(d)
	var attributes, words []string
	for reader := xml.NewDecoder(bytes.NewReader(content)); ; {
		token, err := reader.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch part := token.(type) {
		case xml.StartElement:
			for _, a := range part.Attr {
				attributes = append(attributes, a.Value)
			}
		case xml.CharData:
			words = append(words, string(part))
		}
	}
	if !slices.Contains(attributes, odd) || !slices.Contains(words, odd) {
		t.Errorf("%q is not in %s", odd, content)
	}
	if !bytes.Equal(document.Write(d), content) {
		t.Error("it is another the second time")
	}
}
