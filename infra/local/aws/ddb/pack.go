package ddb

import "encoding/binary"

// packed is an item in the form that rows store: attributes and values sorted by name, with each variable-length part
// preceded by its length. Storing items as maps would burden the garbage collector and take five times the memory,
// which matters because items are kept until they expire. Unpacked items share memory with the packed item.
type packed string

func pack(it item) packed {
	return packed(appendItem(make([]byte, 0, 512), it))
}

func appendItem(to []byte, it item) []byte {
	to = binary.AppendUvarint(to, uint64(len(it)))
	for _, name := range it.names() {
		to = it[name].appendPacked(appendText(to, name))
	}
	return to
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

func (v value) appendPacked(to []byte) []byte {
	to = appendText(to, v.kind)
	switch v.kind {
	case typeBool, typeNull:
		if v.truth {
			return append(to, 1)
		}
		return append(to, 0)
	case typeList:
		to = binary.AppendUvarint(to, uint64(len(v.list)))
		for _, element := range v.list {
			to = element.appendPacked(to)
		}
		return to
	case typeMap:
		return appendItem(to, v.fields)
	case typeStringSet, typeNumberSet, typeBinarySet:
		to = binary.AppendUvarint(to, uint64(len(v.set)))
		for _, member := range v.set {
			to = appendText(to, member)
		}
		return to
	}
	return appendText(to, v.text)
}

// item unpacks the attributes named in shown. If shown is nil, all attributes are unpacked.
func (p packed) item(shown map[string]bool) item {
	rest := string(p)
	n := takeNumber(&rest)
	size := n
	if shown != nil {
		size = min(n, len(shown))
	}
	it := make(item, size)
	for range n {
		if name, v := takeText(&rest), takeValue(&rest); shown == nil || shown[name] {
			it[name] = v
		}
	}
	return it
}

// attribute implements the attributes interface.
func (p packed) attribute(name string) value {
	rest := string(p)
	for range takeNumber(&rest) {
		if found, v := takeText(&rest), takeValue(&rest); found == name {
			return v
		}
	}
	return value{}
}

func takeValue(from *string) value {
	v := value{kind: takeText(from)}
	switch v.kind {
	case typeBool, typeNull:
		v.truth, *from = (*from)[0] == 1, (*from)[1:]
	case typeList:
		v.list = make([]value, takeNumber(from))
		for i := range v.list {
			v.list[i] = takeValue(from)
		}
	case typeMap:
		n := takeNumber(from)
		v.fields = make(item, n)
		for range n {
			name := takeText(from)
			v.fields[name] = takeValue(from)
		}
	case typeStringSet, typeNumberSet, typeBinarySet:
		v.set = make([]string, takeNumber(from))
		for i := range v.set {
			v.set[i] = takeText(from)
		}
	default:
		v.text = takeText(from)
	}
	return v
}

func takeText(from *string) string {
	length := takeNumber(from)
	text := (*from)[:length]
	*from = (*from)[length:]
	return text
}

// takeNumber decodes the uvarint at the start of *from and removes it from *from.
func takeNumber(from *string) int {
	number, shift := 0, 0
	for i := range len(*from) {
		digit := (*from)[i]
		number |= int(digit&0x7f) << shift
		if digit < 0x80 {
			*from = (*from)[i+1:]
			break
		}
		shift += 7
	}
	return number
}
