package r4

import (
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"strings"
)

// Packer encodes resources as bytes, which need a tenth of the memory, and decodes them again. Text shared by several
// resources is stored once. The zero value is ready to use.
type Packer struct {
	types  []reflect.Type
	texts  []string
	known  map[string]uint64 // position of each known text in texts
	seen   []uint32          // hashes of texts packed so far
	buffer []byte
}

// Limits on text that several resources share.
const (
	maxTexts     = 1 << 16
	maxTextBytes = 256
	seenTexts    = 1 << 13
)

// A text is encoded as its length and bytes, as the position of a known text, as a UUID, or as the position of a known
// text such as "Patient/" followed by a UUID.
const (
	asBytes = iota
	asKnown
	asUUID
	asKnownUUID
	textForms
)

const uuidSize = 36

// Pack encodes a resource as bytes.
func (p *Packer) Pack(r Resource) []byte {
	v := reflect.ValueOf(r).Elem()
	kind := 0
	for kind < len(p.types) && p.types[kind] != v.Type() {
		kind++
	}
	if kind == len(p.types) {
		p.types = append(p.types, v.Type())
	}
	p.buffer = binary.AppendUvarint(p.buffer[:0], uint64(kind))
	p.value(v)
	return append(make([]byte, 0, len(p.buffer)), p.buffer...)
}

// Unpack decodes a resource that Pack encoded.
func (p *Packer) Unpack(packed []byte) Resource {
	u := unpacker{texts: p.texts, rest: packed}
	v := reflect.New(p.types[u.number()])
	u.value(v.Elem())
	r, _ := reflect.TypeAssert[Resource](v)
	return r
}

func (p *Packer) number(n int) {
	p.buffer = binary.AppendUvarint(p.buffer, uint64(n)) //nolint:gosec // lengths and places
}

func (p *Packer) value(v reflect.Value) {
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		for i := range v.NumField() {
			if member := v.Field(i); !member.IsZero() {
				p.number(i + 1)
				p.value(member)
			}
		}
		p.number(0)
	case kind == reflect.Pointer && v.IsNil():
		p.number(0)
	case kind == reflect.Pointer:
		p.number(1)
		p.value(v.Elem())
	case kind == reflect.Slice && v.IsNil():
		p.number(0)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		p.number(v.Len() + 1)
		p.buffer = append(p.buffer, v.Bytes()...)
	case kind == reflect.Slice:
		p.number(v.Len() + 1)
		for i := range v.Len() {
			p.value(v.Index(i))
		}
	case kind == reflect.String:
		p.text(v.String())
	case kind == reflect.Bool && v.Bool():
		p.number(1)
	case kind == reflect.Bool:
		p.number(0)
	default:
		p.buffer = binary.AppendVarint(p.buffer, v.Int())
	}
}

func (p *Packer) text(text string) {
	if prefix := len(text) - uuidSize; prefix >= 0 && isUUID(text[prefix:]) {
		at, isKnown := uint64(0), prefix == 0
		if !isKnown {
			at, isKnown = p.place(text[:prefix], true)
		}
		switch {
		case prefix == 0:
			p.number(asUUID)
			p.uuid(text)
			return
		case isKnown:
			p.number(int(at)*textForms + asKnownUUID)
			p.uuid(text[prefix:])
			return
		}
	}
	if at, isKnown := p.place(text, false); isKnown {
		p.number(int(at)*textForms + asKnown) //nolint:gosec // as above
		return
	}
	p.number(len(text)*textForms + asBytes)
	p.buffer = append(p.buffer, text...)
}

// place returns text's position in the list of known texts. A text becomes known when it is packed for the second time,
// or immediately if atOnce is set.
func (p *Packer) place(text string, atOnce bool) (place uint64, ok bool) {
	if len(text) > maxTextBytes {
		return 0, false
	}
	if place, ok = p.known[text]; ok {
		return place, true
	}
	if p.known == nil {
		p.known, p.seen = map[string]uint64{}, make([]uint32, seenTexts)
	}
	if !atOnce {
		hash := uint32(2166136261) // FNV-1a
		for i := range len(text) {
			hash = (hash ^ uint32(text[i])) * 16777619
		}
		if last := &p.seen[hash%seenTexts]; *last != hash {
			*last = hash
			return 0, false
		}
	}
	if len(p.texts) == maxTexts {
		return 0, false
	}
	text = strings.Clone(text) // Without a copy, the text would keep the document in memory.
	place = uint64(len(p.texts))
	p.texts = append(p.texts, text)
	p.known[text] = place
	return place, true
}

func isUUID(text string) bool {
	for i := range len(text) {
		switch c := text[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

func (p *Packer) uuid(text string) {
	var digits [32]byte
	n := 0
	for _, part := range [...]string{text[:8], text[9:13], text[14:18], text[19:23], text[24:]} {
		n += copy(digits[n:], part)
	}
	p.buffer, _ = hex.AppendDecode(p.buffer, digits[:]) // isUUID has already validated the digits, so this can't fail.
}

type unpacker struct {
	texts []string
	rest  []byte
}

func (u *unpacker) number() int {
	n, size := binary.Uvarint(u.rest)
	u.rest = u.rest[size:]
	return int(n) //nolint:gosec // as it was packed
}

func (u *unpacker) take(size int) []byte {
	some := u.rest[:size]
	u.rest = u.rest[size:]
	return some
}

func (u *unpacker) value(v reflect.Value) {
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		for at := u.number(); at > 0; at = u.number() {
			u.value(v.Field(at - 1))
		}
	case kind == reflect.Pointer:
		if u.number() > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			u.value(v.Elem())
		}
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		if length := u.number() - 1; length >= 0 {
			v.SetBytes(append([]byte{}, u.take(length)...))
		}
	case kind == reflect.Slice:
		u.list(v)
	case kind == reflect.String:
		v.SetString(u.text())
	case kind == reflect.Bool:
		v.SetBool(u.number() > 0)
	default:
		n, size := binary.Varint(u.rest)
		u.rest = u.rest[size:]
		v.SetInt(n)
	}
}

func (u *unpacker) list(v reflect.Value) {
	length := u.number() - 1
	if length < 0 {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), length, length))
	for i := range length {
		u.value(v.Index(i))
	}
}

func (u *unpacker) text() string {
	n := u.number()
	switch at := n / textForms; n % textForms {
	case asKnown:
		return u.texts[at]
	case asUUID:
		return u.uuid("")
	case asKnownUUID:
		return u.uuid(u.texts[at])
	default:
		return string(u.take(at))
	}
}

func (u *unpacker) uuid(prefix string) string {
	var text [128]byte
	to := append(text[:0], prefix...)
	raw := u.take(16)
	for i, end := range [...]int{4, 6, 8, 10, 16} {
		if i > 0 {
			to = append(to, '-')
		}
		to = hex.AppendEncode(to, raw[[...]int{0, 4, 6, 8, 10}[i]:end])
	}
	return string(to)
}
