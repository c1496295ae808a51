package views

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/recordbridge/fhirpath"
)

// Column describes a column of a view.
type Column struct {
	Name       string
	Kind       Kind // of each value
	Collection bool
}

// Cells returns the kind of the column's cells. A collection's cells are JSON arrays.
func (c Column) Cells() Kind {
	if c.Collection {
		return Text
	}
	return c.Kind
}

// Kind is the type of a column's cells.
type Kind int

// The kinds and the Go types of their cells. A cell without a value is nil.
const (
	Any       Kind = iota // string: any primitive value
	Text                  // string
	Decimal               // string with a number
	Boolean               // bool
	Integer               // int32
	Long                  // int64
	Double                // float64
	Date                  // time.Time in UTC
	Timestamp             // time.Time
)

// fhirKinds maps FHIR's primitive types to kinds, as in SQL on FHIR's default type mappings.
var fhirKinds = map[string]Kind{
	"": Any, "boolean": Boolean, "integer": Integer, "positiveInt": Integer, "unsignedInt": Integer, "integer64": Long,
	"decimal": Decimal, "instant": Timestamp, "base64Binary": Text, "canonical": Text, "code": Text, "date": Text,
	"dateTime": Text, "id": Text, "markdown": Text, "oid": Text, "string": Text, "time": Text, "uri": Text, "url": Text,
	"uuid": Text,
}

// sqlKinds maps the values of the tag ansi/type to kinds.
var sqlKinds = map[string]Kind{
	"CHARACTER VARYING": Text, "VARCHAR": Text, "BOOLEAN": Boolean, "INT": Integer, "INTEGER": Integer, "BIGINT": Long,
	"DOUBLE PRECISION": Double, "DATE": Date, "TIMESTAMP WITH TIME ZONE": Timestamp,
}

// String returns the SQL type of the kind.
func (k Kind) String() string {
	return map[Kind]string{
		Any: "VARCHAR", Text: "VARCHAR", Decimal: "VARCHAR", Boolean: "BOOLEAN", Integer: "INTEGER", Long: "BIGINT",
		Double: "DOUBLE PRECISION", Date: "DATE", Timestamp: "TIMESTAMP WITH TIME ZONE",
	}[k]
}

func columnKind(d columnDefinition) (Kind, error) {
	kind, ok := fhirKinds[strings.TrimPrefix(d.Type, "http://hl7.org/fhir/StructureDefinition/")]
	if !ok {
		return 0, fmt.Errorf("the type %s isn't a primitive FHIR type", d.Type)
	}
	for _, tag := range d.Tag {
		if tag.Name != "ansi/type" {
			continue
		}
		if kind, ok = sqlKinds[strings.ToUpper(tag.Value)]; !ok {
			return 0, fmt.Errorf("the ansi/type %s isn't supported", tag.Value)
		}
	}
	return kind, nil
}

// cell returns the value of a column's elements.
func (c Column) cell(nodes []fhirpath.Node) (any, error) {
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n fhirpath.Node) bool { return n.Value == nil })
	if !c.Collection {
		switch len(nodes) {
		case 0:
			return nil, nil //nolint:nilnil // NULL
		case 1:
			return c.convert(nodes[0].Value)
		}
		return nil, errors.New("several values, but the column isn't a collection")
	}
	values := make([]any, 0, len(nodes))
	for _, node := range nodes {
		if _, err := c.convert(node.Value); err != nil {
			return nil, err
		}
		values = append(values, node.Value)
	}
	text, err := json.Marshal(values)
	return string(text), err
}

// convert returns a primitive value as the kind's Go type.
func (c Column) convert(value any) (any, error) {
	text, ok := fhirpath.Text(value)
	if !ok {
		return nil, errors.New("the value is a complex element; select one of its elements")
	}
	_, isNumber := value.(json.Number)
	truth, isBool := value.(bool)
	var err error
	var result any = text
	switch c.Kind {
	case Any:
	case Text:
		ok = !isNumber && !isBool
	case Decimal:
		ok = isNumber
	case Boolean:
		result, ok = truth, isBool
	case Integer:
		var n int64
		n, err = strconv.ParseInt(text, 10, 32)
		result, ok = int32(n), isNumber
	case Long: // JSON represents integer64 as a string
		result, err = strconv.ParseInt(text, 10, 64)
	case Double:
		result, err = strconv.ParseFloat(text, 64)
		ok = isNumber
	case Date:
		result, err = time.Parse(time.DateOnly, text)
	case Timestamp:
		result, err = time.Parse(time.RFC3339Nano, text)
	}
	if err != nil || !ok { // the error would contain the value
		return nil, fmt.Errorf("the value isn't of type %s", c.Kind)
	}
	return result, nil
}
