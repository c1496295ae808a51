package ddb

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"recordbridge/infra/local/aws/itemjson"
)

// DynamoDB's type tags, as used on the wire and in AttributeDefinitions.
const (
	typeString    = "S"
	typeNumber    = "N"
	typeBinary    = "B"
	typeBool      = "BOOL"
	typeNull      = "NULL"
	typeList      = "L"
	typeMap       = "M"
	typeStringSet = "SS"
	typeNumberSet = "NS"
	typeBinarySet = "BS"
)

const (
	maxItemBytes = 400 << 10
	maxNesting   = 32
)

// value is the value of a DynamoDB attribute. Values are immutable, so items can share them.
type value struct {
	kind   string
	text   string // string, canonical number or raw bytes, for types S, N and B
	truth  bool   // BOOL
	list   []value
	fields item
	set    []string // strings, canonical numbers or raw bytes, for types SS, NS and BS
}

type item map[string]value

// attributes is an item, either packed or as a map. If an attribute is missing, its value has an empty kind.
type attributes interface {
	attribute(name string) value
}

// wireValue has a pointer for each type tag, so that decoding reveals which tags are present.
type wireValue struct {
	S, N       *string
	B          *[]byte
	BOOL, NULL *bool
	L          *[]value
	M          *item
	SS, NS     *[]string
	BS         *[][]byte
}

// UnmarshalJSON implements json.Unmarshaler, returning AWS's errors for malformed values.
func (v *value) UnmarshalJSON(raw []byte) error {
	if plain, ok := plainValue(raw); ok {
		*v = plain
		return nil
	}
	var in wireValue
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	found, tags := in.value()
	if tags == 0 {
		return invalidf("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	if tags > 1 {
		return invalidf("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the " +
			"supported datatypes")
	}
	var err error
	*v, err = found.normalised()
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (it *item) UnmarshalJSON(raw []byte) error {
	read := item{}
	var malformed error
	if !itemjson.Each(raw, func(name, content []byte) {
		var v value
		if malformed == nil {
			malformed = v.UnmarshalJSON(content)
		}
		read[string(name)] = v
	}) {
		return json.Unmarshal(raw, (*map[string]value)(it))
	}
	*it = read
	return malformed
}

// plainValue parses scalars that contain no escapes. If ok is false, raw may still be valid in a form that plainValue
// doesn't parse.
func plainValue(raw []byte) (v value, ok bool) {
	kind, content, ok := itemjson.Scalar(raw)
	if !ok {
		return value{}, false
	}
	isText := raw[len(raw)-2] == '"'
	switch v.text = string(content); {
	case isText && string(kind) == typeString:
		v.kind = typeString
	case isText && string(kind) == typeNumber:
		var err error
		v.kind = typeNumber
		v.text, err = parseNumber(v.text)
		return v, err == nil
	case isText && string(kind) == typeBinary:
		decoded, err := base64.StdEncoding.DecodeString(v.text)
		return value{kind: typeBinary, text: string(decoded)}, err == nil
	case !isText && string(kind) == typeBool:
		return value{kind: typeBool, truth: v.text == "true"}, true
	default:
		return value{}, false
	}
	return v, true
}

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) { return v.appendJSON(nil), nil }

// MarshalJSON implements json.Marshaler. Attributes are sorted so that equal items have equal encodings.
func (it item) MarshalJSON() ([]byte, error) { return it.appendJSON(make([]byte, 0, 256)), nil }

// value returns the decoded value and the number of type tags present. The result is valid only if exactly one tag is
// present.
func (in *wireValue) value() (v value, tags int) {
	found := func(next value) {
		v = next
		tags++
	}
	if in.S != nil {
		found(value{kind: typeString, text: *in.S})
	}
	if in.N != nil {
		found(value{kind: typeNumber, text: *in.N})
	}
	if in.B != nil {
		found(value{kind: typeBinary, text: string(*in.B)})
	}
	if in.BOOL != nil {
		found(value{kind: typeBool, truth: *in.BOOL})
	}
	if in.NULL != nil {
		found(value{kind: typeNull, truth: *in.NULL})
	}
	if in.L != nil {
		found(value{kind: typeList, list: *in.L})
	}
	if in.M != nil {
		found(value{kind: typeMap, fields: *in.M})
	}
	if in.SS != nil {
		found(value{kind: typeStringSet, set: *in.SS})
	}
	if in.NS != nil {
		found(value{kind: typeNumberSet, set: *in.NS})
	}
	if in.BS != nil {
		members := make([]string, len(*in.BS))
		for i, member := range *in.BS {
			members[i] = string(member)
		}
		found(value{kind: typeBinarySet, set: members})
	}
	return v, tags
}

// normalised converts numbers to canonical form, and rejects values that are invalid for the type.
func (v value) normalised() (_ value, err error) {
	switch {
	case v.kind == typeNumber:
		v.text, err = parseNumber(v.text)
		return v, err
	case v.kind == typeNull && !v.truth:
		return v,
			invalidf("One or more parameter values were invalid: Null attribute value types must have the value of true")
	case v.isSet():
		v.set, err = v.normalisedMembers()
		return v, err
	}
	return v, nil
}

func (v value) normalisedMembers() (members []string, err error) {
	if len(v.set) == 0 {
		return nil, invalidf("One or more parameter values were invalid: An %s set  may not be empty", elementName(v.kind))
	}
	seen := make(map[string]bool, len(v.set))
	members = make([]string, 0, len(v.set))
	for _, member := range v.set {
		if v.kind == typeNumberSet {
			if member, err = parseNumber(member); err != nil {
				return nil, err
			}
		}
		if seen[member] {
			return nil, invalidf("One or more parameter values were invalid: Input collection [%s] contains duplicates.",
				strings.Join(v.set, ", "))
		}
		seen[member] = true
		members = append(members, member)
	}
	return members, nil
}

func (v value) isSet() bool {
	return v.kind == typeStringSet || v.kind == typeNumberSet || v.kind == typeBinarySet
}

// isScalar reports whether v's type is ordered and allowed in keys.
func (v value) isScalar() bool {
	return v.kind == typeString || v.kind == typeNumber || v.kind == typeBinary
}

// size returns the number of bytes that v contributes to an item's 400 KB limit.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func (v value) size() int {
	switch v.kind {
	case typeString, typeBinary:
		return len(v.text)
	case typeNumber:
		return numberSize(v.text)
	case typeList:
		total := 3
		for _, element := range v.list {
			total += 1 + element.size()
		}
		return total
	case typeMap:
		return 3 + v.fields.size() + len(v.fields)
	case typeStringSet, typeNumberSet, typeBinarySet:
		total := 0
		for _, member := range v.set {
			if v.kind == typeNumberSet {
				total += numberSize(member)
			} else {
				total += len(member)
			}
		}
		return total
	}
	return 1
}

// names returns the sorted attribute names. It allocates only once, because both encoders call it for every item.
func (it item) names() []string {
	names := make([]string, 0, len(it))
	for name := range it {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (it item) attribute(name string) value { return it[name] }

func (it item) size() int { return it.sizeOf(nil) }

// sizeOf returns the total size of the attributes in shown. If shown is nil, sizeOf counts all attributes.
func (it item) sizeOf(shown map[string]bool) int {
	total := 0
	for name, v := range it {
		if shown == nil || shown[name] {
			total += len(name) + v.size()
		}
	}
	return total
}

// check returns an error for an item that DynamoDB would reject in any table.
func (it item) check() error {
	if _, nameless := it[""]; nameless {
		return invalidf("One or more parameter values were invalid: An attribute name may not be empty")
	}
	if it.size() > maxItemBytes {
		return invalidf("Item size has exceeded the maximum allowed size")
	}
	return nil
}

// depth returns 0 for a scalar. For a list or map, it returns one more than the depth of its deepest element.
func (v value) depth() int {
	deepest := -1
	for _, element := range v.list {
		deepest = max(deepest, element.depth())
	}
	for _, field := range v.fields {
		deepest = max(deepest, field.depth())
	}
	if v.kind == typeList || v.kind == typeMap {
		return max(deepest, 0) + 1
	}
	return 0
}

func (it item) checkNesting() error {
	for _, v := range it {
		if v.depth() > maxNesting {
			return invalidf("Nesting Levels have exceeded supported limits")
		}
	}
	return nil
}

func equal(a, b value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case typeBool:
		return a.truth == b.truth
	case typeList:
		return slices.EqualFunc(a.list, b.list, equal)
	case typeMap:
		return maps.EqualFunc(a.fields, b.fields, equal)
	case typeStringSet, typeNumberSet, typeBinarySet:
		return slices.Equal(slices.Sorted(slices.Values(a.set)), slices.Sorted(slices.Values(b.set)))
	}
	return a.text == b.text
}

// compare orders two scalars of the same type. If the types differ or are not ordered, ok is false.
func compare(a, b value) (order int, ok bool) {
	if a.kind != b.kind || !a.isScalar() {
		return 0, false
	}
	return strings.Compare(a.sortKey(), b.sortKey()), true
}

// sortKey encodes a scalar so that byte order matches DynamoDB's key order.
func (v value) sortKey() string {
	if v.kind == typeNumber {
		return numberSortKey(v.text)
	}
	return v.text
}

// elementName returns the name that AWS's messages use for elements of a set.
func elementName(kind string) string {
	switch kind {
	case typeNumberSet:
		return "number"
	case typeBinarySet:
		return "binary"
	}
	return "string"
}

// operandName returns the name that AWS's messages use for a type.
func operandName(kind string) string {
	switch kind {
	case typeString:
		return "STRING"
	case typeNumber:
		return "NUMBER"
	case typeBinary:
		return "BINARY"
	case typeBool:
		return "BOOLEAN"
	case typeList:
		return "LIST"
	case typeMap:
		return "MAP"
	case typeStringSet:
		return "STRING_SET"
	case typeNumberSet:
		return "NUMBER_SET"
	case typeBinarySet:
		return "BINARY_SET"
	}
	return "NULL"
}
