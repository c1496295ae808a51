package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/words/fault"
)

// item is a row, or the values of an expression's placeholders.
type item map[string]types.AttributeValue

// stamp is the layout of stored times. The fixed width makes stored times sort chronologically as strings.
const stamp = "2006-01-02T15:04:05.000000Z"

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

func number(value int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(value, 10)}
}

func moment(at time.Time) types.AttributeValue { return text(at.UTC().Format(stamp)) }

// setText, setInt, setTime and setBytes omit zero values so that rows contain only attributes that are set.
func (r item) setText(name, value string) {
	if value != "" {
		r[name] = text(value)
	}
}

func (r item) setInt(name string, value int64) {
	if value != 0 {
		r[name] = number(value)
	}
}

func (r item) setTime(name string, at time.Time) {
	if !at.IsZero() {
		r[name] = moment(at)
	}
}

func (r item) setBytes(name string, value []byte) {
	if len(value) > 0 {
		r[name] = &types.AttributeValueMemberB{Value: value}
	}
}

func (r item) setFlag(name string, value bool) {
	if value {
		r[name] = &types.AttributeValueMemberBOOL{Value: true}
	}
}

// setJSON stores a list or struct as JSON text, which expressions can't inspect.
func (r item) setJSON(name string, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	r.setText(name, string(body))
	return nil
}

func (r item) text(name string) string {
	if value, ok := r[name].(*types.AttributeValueMemberS); ok {
		return value.Value
	}
	return ""
}

func (r item) int(name string) int64 {
	value, ok := r[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (r item) time(name string) time.Time {
	at, err := time.Parse(stamp, r.text(name))
	if err != nil {
		return time.Time{}
	}
	return at
}

func (r item) bytes(name string) []byte {
	if value, ok := r[name].(*types.AttributeValueMemberB); ok {
		return value.Value
	}
	return nil
}

func (r item) flag(name string) bool {
	value, ok := r[name].(*types.AttributeValueMemberBOOL)
	return ok && value.Value
}

func (r item) json(name string, into any) error {
	body := r.text(name)
	if body == "" {
		return nil
	}
	if json.Unmarshal([]byte(body), into) != nil { // the error is dropped because it may quote the row
		damaged := fault.Spot{Operation: "decode", Row: r.kind(), Attribute: name}
		return damaged.Failed(fmt.Errorf("decode %s of a %s row", name, r.kind()))
	}
	return nil
}
