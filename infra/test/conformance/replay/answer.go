package replay

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"recordbridge/infra/test/conformance/corpus"
)

// answer holds a server's response in a form that can be compared with a script's expectations.
type answer struct {
	status int
	header http.Header
	body   []byte
	value  any    // body as mappings, lists and strings; nil if it is neither JSON nor XML
	code   string // error code without its namespace; "" on success
}

// String formats the response for a difference report.
func (a *answer) String() string {
	text := string(a.body)
	return fmt.Sprintf("%d %s %s", a.status, a.code, text[:min(len(text), 200)])
}

func read(response *http.Response) (*answer, error) {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	a := &answer{status: response.StatusCode, header: response.Header, body: body}
	switch {
	case json.Unmarshal(body, &a.value) == nil:
	case strings.Contains(string(body[:min(len(body), 100)]), "<"):
		a.value = tree(body)
	}
	if a.status >= http.StatusMultipleChoices {
		a.code = codeOf(a)
	}
	return a, nil
}

// codeOf extracts the error code: __type without its namespace in JSON, Code in S3, or Error.Code in the Query
// protocol. If the body contains no error code, as in a response to HEAD, codeOf returns the status text.
func codeOf(a *answer) string {
	for _, path := range []string{"__type", "Code", "Error.Code", "Errors.Error.Code"} {
		if code, ok := corpus.Find(a.value, path).(string); ok {
			return code[strings.LastIndexByte(code, '#')+1:]
		}
	}
	return http.StatusText(a.status)
}

// tree parses XML into a mapping of the root element's children. Elements with children become mappings, and elements
// without children become strings. Elements with the same name are combined into a list. tree returns nil if body is
// not XML.
func tree(body []byte) any {
	decoder := xml.NewDecoder(strings.NewReader(string(body)))
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil
		}
		if _, ok := token.(xml.StartElement); ok {
			value, err := element(decoder)
			if err != nil {
				return nil
			}
			return value
		}
	}
}

func element(decoder *xml.Decoder) (any, error) {
	members, text := map[string]any{}, strings.Builder{}
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil, errors.Join(errors.New("the XML ends early"), err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			child, err := element(decoder)
			if err != nil {
				return nil, err
			}
			add(members, token.Name.Local, child)
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
			if len(members) == 0 {
				return text.String(), nil
			}
			return members, nil
		}
	}
}

func add(members map[string]any, name string, child any) {
	switch before := members[name].(type) {
	case nil:
		members[name] = child
	case []any:
		members[name] = append(before, child)
	default:
		members[name] = []any{before, child}
	}
}
