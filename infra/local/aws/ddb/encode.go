package ddb

import (
	"encoding/base64"
	"encoding/json"
)

// The encoder is hand-written because encoding/json copies and rescans the output of every nested MarshalJSON. For
// nested items, this copying and rescanning would dominate the cost of a call.

func (it item) appendJSON(to []byte) []byte {
	to = append(to, '{')
	for i, name := range it.names() {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendString(to, name)
		to = append(to, ':')
		to = it[name].appendJSON(to)
	}
	return append(to, '}')
}

func (v value) appendJSON(to []byte) []byte {
	to = append(to, `{"`...)
	to = append(to, v.kind...)
	to = append(to, `":`...)
	switch v.kind {
	case typeString, typeNumber:
		to = appendString(to, v.text)
	case typeBinary:
		to = appendBinary(to, v.text)
	case typeBool, typeNull:
		if v.truth {
			to = append(to, "true"...)
		} else {
			to = append(to, "false"...)
		}
	case typeList:
		to = appendArray(to, v.list, func(to []byte, element value) []byte { return element.appendJSON(to) })
	case typeMap:
		to = v.fields.appendJSON(to)
	case typeBinarySet:
		to = appendArray(to, v.set, appendBinary)
	default:
		to = appendArray(to, v.set, appendString)
	}
	return append(to, '}')
}

func appendArray[T any](to []byte, elements []T, appendOne func([]byte, T) []byte) []byte {
	to = append(to, '[')
	for i, element := range elements {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendOne(to, element)
	}
	return append(to, ']')
}

func appendBinary(to []byte, raw string) []byte {
	to = append(to, '"')
	to = base64.StdEncoding.AppendEncode(to, []byte(raw))
	return append(to, '"')
}

// appendQuoted appends text as a JSON string. It can't fail, because every string has a JSON representation.
func appendQuoted(to []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		return append(to, `""`...)
	}
	return append(to, quoted...)
}

func appendString(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendQuoted(to, text)
		}
	}
	to = append(to, '"')
	to = append(to, text...)
	return append(to, '"')
}
