package r4_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda/r4"
)

// inParts returns a function that writes text in chunks of size bytes. A chunk may end in the middle of a multi-byte
// character.
func inParts(text string, size int) func(io.Writer) error {
	return func(w io.Writer) error {
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	}
}

func TestSourcesJSONMatchesInMemoryJSON(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("<p title=\"x\\y\">é\u2028\U0001F600\t\r\n\x7f &</p>", 50)
	for _, size := range []int{1, 3, 7, 1000} {
		s := r4.Sources{}
		large, err := s.Text(inParts(text, size))
		if err != nil {
			t.Fatal(err)
		}
		data, err := s.Data(inParts(text, size))
		if err != nil {
			t.Fatal(err)
		}
		held := &r4.DocumentReference{
			Header: r4.Header{Text: &r4.Narrative{Div: text}},
			Content: []r4.DocumentContent{
				{Attachment: &r4.Attachment{Data: []byte("000000000000000000000002")}},
				{Attachment: &r4.Attachment{Data: []byte(text)}},
			},
		}
		written := &r4.DocumentReference{
			Header: r4.Header{Text: &r4.Narrative{Large: large}},
			Content: []r4.DocumentContent{
				{Attachment: &r4.Attachment{Data: []byte("000000000000000000000002")}},
				{Attachment: &r4.Attachment{Large: data}},
			},
		}
		want, err := r4.JSON(held)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.JSON(written); err != nil || !bytes.Equal(got, want) {
			t.Errorf("parts of %d bytes: %s, %v; want %s", size, got, err, want)
		}
		if a, b := r4.Size(held, 1<<20), r4.Size(written, 1<<20); a != b {
			t.Errorf("the size is %d, want %d", b, a)
		}
	}
}
