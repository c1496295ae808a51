package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"recordbridge/shared/fhir"
)

// window is the part of a line that is in memory at once. A resource's type and id must be in the first window.
const window = 64 << 10

// uuid matches the ids of converted documents, which exist on no server (RFC 9562).
var uuid = regexp.MustCompile("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")

var errLine = errors.New("a line is no JSON object")

// Bundle writes one part of a FHIR Bundle of type collection (bundle.html) with the resources of src, one per line, in
// their order and byte for byte. Every part has at least one resource. An entry's fullUrl is the resource's URL below
// base, the base URL of a FHIR server. If base is empty, it is the resource's id as a URN, if that id is a UUID
// (bundle.html#bundle-unique). It is omitted if the first 64 KiB of the line contain no valid type and id. A line that
// does not begin and end as an object is an error; the content in between was checked when the line was written.
func Bundle(dst io.Writer, src io.Reader, base string, part Part) error {
	b := bundle{
		in: bufio.NewReaderSize(src, window), out: bufio.NewWriterSize(dst, window),
		base: strings.TrimRight(base, "/"),
	}
	before := ","
	if part.First {
		before = `{"resourceType":"Bundle","type":"collection","entry":[`
	}
	for {
		line, err := b.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		b.text(before)
		before = ","
		if err := b.entry(line); err != nil {
			return err
		}
	}
	if part.Last {
		b.text("]}")
	}
	if err := b.out.Flush(); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}

// bundle is a Bundle being written.
type bundle struct {
	in   *bufio.Reader
	out  *bufio.Writer // returns its first error from Flush
	base string
}

func (b *bundle) text(s string) { _, _ = b.out.WriteString(s) }

// piece is a line, or one window of a longer line.
type piece struct {
	json []byte // valid until the next piece is read
	last bool   // last of its line
}

// next reads a piece; io.EOF if there is none.
func (b *bundle) next() (piece, error) {
	read, err := b.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return piece{json: read}, nil
	}
	if errors.Is(err, io.EOF) && len(read) > 0 {
		return piece{json: read, last: true}, nil
	}
	if err != nil {
		return piece{}, fmt.Errorf("read lines: %w", err)
	}
	return piece{json: read[:len(read)-1], last: true}, nil
}

// entry writes the entry of the line that begins with the given piece, and reads the rest of the line.
func (b *bundle) entry(line piece) error {
	if !bytes.HasPrefix(line.json, []byte("{")) {
		return errLine
	}
	b.text("{")
	if address := b.fullURL(line.json); address != nil {
		b.text(`"fullUrl":`)
		_, _ = b.out.Write(address)
		b.text(",")
	}
	b.text(`"resource":`)
	var end byte
	for {
		if n := len(line.json); n > 0 {
			end = line.json[n-1]
		}
		if _, err := b.out.Write(line.json); err != nil {
			return fmt.Errorf("write entry: %w", err)
		}
		if line.last {
			break
		}
		var err error
		if line, err = b.next(); errors.Is(err, io.EOF) {
			break // the last line ends at a window boundary without a line feed
		} else if err != nil {
			return err
		}
	}
	if end != '}' {
		return errLine
	}
	b.text("}")
	return nil
}

// fullURL returns, as JSON, the URL of the resource that begins with head; nil if it is unknown.
func (b *bundle) fullURL(head []byte) []byte {
	resourceType, id := identify(head)
	if !fhir.ValidType(resourceType) || !fhir.ValidID(id) || b.base == "" && !uuid.MatchString(id) {
		return nil
	}
	full := b.base + "/" + resourceType + "/" + id
	if b.base == "" {
		full = "urn:uuid:" + id
	}
	address, err := json.Marshal(full)
	if err != nil {
		return nil // unreachable: a string always marshals
	}
	return address
}

// identify finds the type and the id at the top level of a resource from its beginning. They nearly always come first,
// so that little of it is read.
func identify(head []byte) (resourceType, id string) {
	tokens := json.NewDecoder(bytes.NewReader(head))
	if _, err := tokens.Token(); err != nil {
		return "", ""
	}
	for (resourceType == "" || id == "") && tokens.More() {
		name, err := tokens.Token()
		if err != nil {
			break
		}
		switch name {
		case "resourceType":
			err = tokens.Decode(&resourceType)
		case "id":
			err = tokens.Decode(&id)
		default:
			err = tokens.Decode(&json.RawMessage{})
		}
		if err != nil {
			break
		}
	}
	return resourceType, id
}
