package probe

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	// maxRefusal is the maximum number of bytes read from an error response.
	maxRefusal = 64 << 10
	// shortest is the minimum length of a sent value that must not appear in the report.
	shortest = 4
)

// description returns the error_description of a rejected token request (RFC 6749 section 5.2). description leaves the
// body readable. The text can't describe a patient because the test's grants are fictitious. description returns "" if
// the text repeats a value that the test sent, because that value may be a secret.
func description(request *http.Request, response *http.Response) string {
	head, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	response.Body = body{io.MultiReader(bytes.NewReader(head), response.Body), response.Body}
	var refusal struct {
		Description string `json:"error_description"`
	}
	if err != nil || json.Unmarshal(head, &refusal) != nil || refusal.Description == "" {
		return ""
	}
	for _, value := range sentSecrets(request) {
		if len(value) >= shortest && strings.Contains(refusal.Description, value) {
			return ""
		}
	}
	return plain(refusal.Description)
}

// body is a partly read response body that can be reread from the beginning.
type body struct {
	io.Reader
	io.Closer
}

// sentSecrets lists the confidential values in a token request, that is, every value except those known to both sides,
// such as the client ID.
func sentSecrets(request *http.Request) []string {
	var values []string
	if _, password, ok := request.BasicAuth(); ok {
		values = append(values, password)
		if decoded, err := url.QueryUnescape(password); err == nil {
			values = append(values, decoded)
		}
	}
	if request.GetBody == nil {
		return values
	}
	sent, err := request.GetBody()
	if err != nil {
		return values
	}
	text, err := io.ReadAll(io.LimitReader(sent, maxRefusal))
	if err != nil {
		return values
	}
	form, _ := url.ParseQuery(string(text)) // malformed parts of the form were never sent
	for name, list := range form {
		switch name {
		case "client_id", "grant_type", "redirect_uri", "scope", "client_assertion_type":
		default:
			values = append(values, list...)
		}
	}
	return values
}
