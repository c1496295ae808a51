package r4

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// Large is content too large to hold in memory. The content is read from its source when the resource is encoded.
type Large struct {
	Size    int    // in bytes
	Encoded int    // maximum number of bytes that the content adds to the resource's JSON
	Sum     string // SHA-256 of the content
}

// Sources maps each Large's Sum to the function that writes its content.
type Sources map[string]func(io.Writer) error

// Text adds UTF-8 text that is to be encoded as a JSON string. It returns any error from write.
func (s Sources) Text(write func(io.Writer) error) (*Large, error) {
	m := meter{hash: sha256.New(), escaped: sizer{most: math.MaxInt}}
	text := runes{to: func(part []byte) error {
		m.escaped.text(string(part))
		m.escaped.size -= len(`""`)
		return nil
	}}
	if err := write(io.MultiWriter(&m, &text)); err != nil {
		return nil, err
	}
	return s.add(write, &Large{Size: m.size, Encoded: m.escaped.size, Sum: string(m.hash.Sum(nil))}), nil
}

// Data adds bytes that are encoded in base64. It returns any error from write.
func (s Sources) Data(write func(io.Writer) error) (*Large, error) {
	m := meter{hash: sha256.New()}
	if err := write(&m); err != nil {
		return nil, err
	}
	// The length includes the member's name, as in Size.
	encoded := len(`"data,omitempty":"",`) + base64.StdEncoding.EncodedLen(m.size)
	return s.add(write, &Large{Size: m.size, Encoded: encoded, Sum: string(m.hash.Sum(nil))}), nil
}

// meter counts and hashes the data written to it.
type meter struct {
	size    int
	hash    hash.Hash
	escaped sizer
}

// Write implements io.Writer.
func (m *meter) Write(part []byte) (int, error) {
	m.size += len(part)
	_, _ = m.hash.Write(part) // hash.Hash never returns an error
	return len(part), nil
}

// runes forwards data in chunks that never split a character.
type runes struct {
	to   func(part []byte) error
	rest []byte
}

// Write implements io.Writer.
func (r *runes) Write(part []byte) (int, error) {
	size := len(part)
	if len(r.rest) > 0 {
		part = append(r.rest, part...)
	}
	end := len(part)
	for i := end - 1; i >= max(0, end-utf8.UTFMax); i-- {
		if utf8.RuneStart(part[i]) {
			if !utf8.FullRune(part[i:]) {
				end = i
			}
			break
		}
	}
	whole := part[:end]
	r.rest = bytes.Clone(part[end:])
	if len(whole) == 0 {
		return size, nil
	}
	return size, r.to(whole)
}

// place identifies a resource member whose value is a Large.
type place struct {
	large  *Large
	isData bool
	set    func(content []byte) // replaces the Large with its content
}

// places returns the members of a resource that have a Large as their value. Only types that have a narrative or
// attachments contain a Large.
func places(r Resource) []place {
	var list []place
	markup := func(n *Narrative) {
		if n != nil && n.Large != nil {
			list = append(list, place{n.Large, false, func(content []byte) { n.Div = string(content) }})
		}
	}
	attachment := func(a *Attachment) {
		if a != nil && a.Large != nil {
			list = append(list, place{a.Large, true, func(content []byte) { a.Data = content }})
		}
	}
	markup(r.Base().Text)
	switch r := r.(type) {
	case *Composition:
		var inside func(sections []CompositionSection)
		inside = func(sections []CompositionSection) {
			for i := range sections {
				markup(sections[i].Text)
				inside(sections[i].Section)
			}
		}
		inside(r.Section)
	case *DocumentReference:
		for i := range r.Content {
			attachment(r.Content[i].Attachment)
		}
	case *DiagnosticReport:
		for i := range r.PresentedForm {
			attachment(&r.PresentedForm[i])
		}
	case *Binary:
		if r.Large != nil {
			list = append(list, place{r.Large, true, func(content []byte) { r.Data = content }})
		}
	}
	return list
}

// Write encodes a resource as JSON, including the content of each Large.
func (s Sources) Write(w io.Writer, r Resource) error {
	if err := s.writeTo(w, r); err != nil {
		return fmt.Errorf("r4: write %s: %w", r.Base().ResourceType, err)
	}
	return nil
}

// JSON is like Write, but returns the JSON as a byte slice.
func (s Sources) JSON(r Resource) ([]byte, error) {
	list := places(r)
	if len(list) == 0 {
		return JSON(r)
	}
	size := 4 << 10
	for _, p := range list {
		size += p.large.Encoded
	}
	var line bytes.Buffer
	line.Grow(size)
	err := s.Write(&line, r)
	return line.Bytes(), err
}

func (s Sources) add(write func(io.Writer) error, l *Large) *Large {
	if s[l.Sum] == nil {
		s[l.Sum] = write
	}
	return l
}

func (s Sources) writeTo(w io.Writer, r Resource) error {
	list := places(r)
	if len(list) == 0 {
		line, err := JSON(r)
		if err == nil {
			_, err = w.Write(line)
		}
		return err //nolint:wrapcheck // Write does it
	}
	line, marks, err := marked(r, list)
	for i, p := range list {
		if err != nil {
			break
		}
		before, after, _ := bytes.Cut(line, marks[i])
		if _, err = w.Write(before); err == nil {
			err = s.write(w, p)
		}
		line = after
	}
	if err == nil {
		_, err = w.Write(line)
	}
	return err //nolint:wrapcheck // Write does it
}

// marked returns a resource's JSON with a marker in place of each Large. The markers appear in list's order and nowhere
// else in the JSON.
func marked(r Resource, list []place) (line []byte, marks [][]byte, err error) {
	for attempt := 0; ; attempt++ {
		marks = marks[:0]
		for i, p := range list {
			mark := fmt.Sprintf("%08d%08d%08d", attempt, i, len(list)) // This length needs no base64 padding.
			p.set([]byte(mark))
			if p.isData {
				mark = base64.StdEncoding.EncodeToString([]byte(mark))
			}
			marks = append(marks, []byte(strconv.Quote(mark)))
		}
		line, err = JSON(r)
		for _, p := range list {
			p.set(nil)
		}
		if err != nil {
			return nil, nil, err
		}
		isClear := true
		for _, mark := range marks {
			isClear = isClear && bytes.Count(line, mark) == 1
		}
		if isClear {
			return line, marks, nil
		}
	}
}

// write encodes a Large as the value of a member.
func (s Sources) write(w io.Writer, p place) error {
	out := bufio.NewWriterSize(w, 64<<10)
	_ = out.WriteByte('"') // Flush returns the error.
	var err error
	if p.isData {
		encoder := base64.NewEncoder(base64.StdEncoding, out)
		err = s[p.large.Sum](encoder)
		_ = encoder.Close() // Flush returns the error.
	} else {
		err = s[p.large.Sum](escaping(out))
	}
	if err != nil {
		return err
	}
	_ = out.WriteByte('"') // Flush returns any write error.
	return out.Flush()     //nolint:wrapcheck // Write does it
}

// escaping returns a writer that escapes text for JSON.
func escaping(out *bufio.Writer) io.Writer {
	var part bytes.Buffer
	encoder := json.NewEncoder(&part)
	encoder.SetEscapeHTML(false)
	return &runes{to: func(text []byte) error {
		part.Reset()
		err := encoder.Encode(string(text))
		if err == nil {
			_, err = out.Write(part.Bytes()[1 : part.Len()-len("\"\n")])
		}
		return err //nolint:wrapcheck // Write does it
	}}
}
