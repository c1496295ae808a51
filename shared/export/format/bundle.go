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

// window is the maximum number of bytes of a line held in memory at once. A resource's type and id must be in the first
// window.
const window = 64 << 10

// uuid matches the ids (RFC 9562) of resources that were converted from documents and exist on no server.
var uuid = regexp.MustCompile("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")

var errLine = errors.New("a line is not a JSON object")

// Bundle writes one part of a FHIR Bundle of type collection (bundle.html). The Bundle's entries are the resources in
// src, one per line, unchanged and in the same order. Every part contains at least one resource. An entry's fullUrl is
// the resource's URL under base, a FHIR server's base URL. If base is empty and the id is a UUID, fullUrl is the id as
// a URN (bundle.html#bundle-unique). If the first 64 KiB of the line do not contain a valid type and id, the entry has
// no fullUrl. Bundle returns an error for a line that does not begin and end as an object. It does not check the rest
// of a line, which was validated when it was written.
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

// bundle holds the state of a Bundle while it is being written.
type bundle struct {
	in   *bufio.Reader
	out  *bufio.Writer // Flush returns any write errors
	base string
}

func (b *bundle) text(s string) { _, _ = b.out.WriteString(s) }

// piece is either a complete line or one window of a longer line.
type piece struct {
	json []byte // valid until the next piece is read
	last bool   // whether the piece contains the end of its line
}

// next reads the next piece. It returns io.EOF at the end of the input.
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

// entry writes the entry for a line that begins with the given piece, reading the rest of the line.
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
			break // the last line ends at a window boundary and has no line feed
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

// fullURL returns the URL of the resource that begins with head, encoded as JSON. It returns nil if the URL is unknown.
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
		return nil // unreachable: a string can always be marshalled
	}
	return address
}

// identify extracts the top-level type and id of a resource from head, which contains the beginning of the resource.
// The type and id nearly always come first, so identify scans only a small part of head.
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
