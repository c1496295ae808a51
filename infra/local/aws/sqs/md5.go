package sqs

import (
	"crypto/md5" //nolint:gosec // SQS's protocol names MD5; it protects nothing
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
)

func hexMD5(content []byte) string {
	sum := md5.Sum(content) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// attributesMD5 is MD5OfMessageAttributes, "" without attributes. The developer guide ("Calculating the MD5 message
// digest for message attributes") gives the layout: sorted by name; name, type and value each behind their length;
// the value behind a byte that tells text (1) from bytes (2).
func attributesMD5(attributes map[string]attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	var layout []byte
	add := func(part []byte) {
		layout = binary.BigEndian.AppendUint32(layout, uint32(len(part))) //nolint:gosec // at most 1 MiB
		layout = append(layout, part...)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value := attributes[name]
		add([]byte(name))
		add([]byte(value.DataType))
		if value.StringValue != nil {
			layout = append(layout, 1)
			add([]byte(*value.StringValue))
		} else {
			layout = append(layout, 2)
			add(value.BinaryValue)
		}
	}
	return hexMD5(layout)
}
