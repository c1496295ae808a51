package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"recordbridge/shared/words/fault"
)

// binder fills an In from a request. The tag of each exported field in In specifies the source of the field's value:
//
//	ConnectionID string `json:"org_connection_id" required:"true"` // JSON body
//	Start        string `form:"start_value"`                       // body of an HTML form, sent at most once
//	RedirectURI  string `query:"redirect_uri"`                     // query, sent at most once
//	TaskID       string `path:"taskId"`                            // path
//	Site         string `header:"Sec-Fetch-Site"`                  // header, sent at most once
//	Network      string `client:"network"`                         // client seen by the gateway (see clientNetwork)
//
// All fields except json fields are strings. The body is read only if In has json or form fields, and In can't have
// both. If a required field is missing or empty, the error names the field. All errors are fault.Invalid, TooLarge or
// UnsupportedMedia.
type binder[In any] struct {
	fields  []field
	hasBody bool
	hasForm bool
	defect  error // set if the struct violates binder's rules, which makes every request fail
}

type source string

const (
	fromBody  source = "json"
	fromForm  source = "form"
	fromQuery source = "query"
	fromPath  source = "path"
	fromHead  source = "header"
	fromPeer  source = "client"
)

type field struct {
	index    int
	source   source
	name     string
	required bool
}

func newBinder[In any]() binder[In] {
	var b binder[In]
	in := reflect.TypeFor[In]()
	if in.Kind() != reflect.Struct {
		b.defect = fmt.Errorf("bind: %v is not a struct", in)
		return b
	}
	for i := range in.NumField() {
		f, err := fieldOf(in.Field(i), i)
		if err != nil {
			b.defect = err
			return b
		}
		b.hasBody = b.hasBody || f.source == fromBody
		b.hasForm = b.hasForm || f.source == fromForm
		b.fields = append(b.fields, f)
	}
	if b.hasBody && b.hasForm {
		b.defect = fmt.Errorf("bind: %v has both json and form fields", in)
	}
	return b
}

func fieldOf(structField reflect.StructField, index int) (field, error) {
	f := field{index: index, required: structField.Tag.Get("required") == "true"}
	for _, from := range []source{fromBody, fromForm, fromQuery, fromPath, fromHead, fromPeer} {
		if tag, ok := structField.Tag.Lookup(string(from)); ok && f.source == "" {
			f.source = from
			f.name, _, _ = strings.Cut(tag, ",")
		}
	}
	text := structField.Type.Kind() == reflect.String
	if f.name == "" || !structField.IsExported() || (f.source != fromBody && !text) {
		return field{}, fmt.Errorf("bind: field %s needs one of the tags json, form (string), query (string), path "+
			"(string), header (string) and client (string)", structField.Name)
	}
	return f, nil
}

// read fills an In from a call's request, and notes the request's external ID for the request log.
func (b binder[In]) read(c *call) (In, error) {
	in, err := b.from(c.request)
	if err != nil {
		return in, err
	}
	for _, f := range b.fields {
		if value := reflect.ValueOf(in).Field(f.index); f.name == "external_id" && value.Kind() == reflect.String {
			c.externalID = value.String()
		}
	}
	return in, nil
}

func (b binder[In]) from(r *http.Request) (In, error) {
	var in In
	if b.defect != nil {
		return in, b.defect
	}
	if b.hasBody {
		if err := decodeBody(r, &in); err != nil {
			return in, err
		}
	}
	var form url.Values
	if b.hasForm {
		var err error
		if form, err = parseForm(r); err != nil {
			return in, err
		}
	}
	query, err := parseQuery(r)
	if err != nil {
		return in, err
	}
	target := reflect.ValueOf(&in).Elem()
	for _, f := range b.fields {
		if err := f.fill(target.Field(f.index), r, query, form); err != nil {
			return in, err
		}
	}
	return in, nil
}

// fill sets the field unless its value comes from the JSON body. fill sets even an empty value, so that a JSON body
// can't set the field, and checks that a required field is present.
func (f field) fill(target reflect.Value, r *http.Request, query, form url.Values) error {
	switch f.source {
	case fromForm, fromQuery:
		values := query
		if f.source == fromForm {
			values = form
		}
		value, err := single(values, f.name)
		if err != nil {
			return err
		}
		target.SetString(value)
	case fromPath:
		target.SetString(r.PathValue(f.name))
	case fromHead:
		value, err := single(url.Values{f.name: r.Header.Values(f.name)}, f.name)
		if err != nil {
			return err
		}
		target.SetString(value)
	case fromPeer:
		target.SetString(clientNetwork(r.RemoteAddr))
	case fromBody:
	}
	if f.required && target.IsZero() {
		return fault.BadRequest(f.name + " is required.").About(f.name)
	}
	return nil
}

func parseQuery(r *http.Request) (url.Values, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.BadRequest("The query string is malformed.").Because(err)
	}
	return query, nil
}

// single returns a parameter that may be sent at most once (RFC 6749 section 3.1). The parameter must be UTF-8 without
// control characters.
func single(query url.Values, name string) (string, error) {
	values := query[name]
	if len(values) > 1 {
		return "", fault.BadRequest(name + " must not be repeated.").About(name)
	}
	value := query.Get(name)
	if !utf8.ValidString(value) || strings.ContainsFunc(value, isControl) {
		return "", fault.BadRequest(name + " must be text without control characters.").About(name)
	}
	return value, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
