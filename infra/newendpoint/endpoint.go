package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// endpoint holds a new endpoint's name in the forms that the code templates use.
type endpoint struct {
	Folder  string // folder below functions/ and name in documents and alarms, such as getsomething
	Logical string // prefix of logical IDs, such as GetSomething
	Path    string // URL path, such as /bridge/something
}

// Operation returns the operation ID in the OpenAPI description, such as getSomething.
func (e endpoint) Operation() string { return strings.ToLower(e.Logical[:1]) + e.Logical[1:] }

var (
	validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,39}$`)
	validPath = regexp.MustCompile(`^(/[a-z0-9][a-z0-9._-]*)+$`)
)

func newEndpoint(name, method, path, access string) (endpoint, error) {
	switch {
	case !validName.MatchString(name):
		return endpoint{}, fmt.Errorf("the name %q must be 3 to 40 letters and digits, such as GetSomething", name)
	case !validPath.MatchString(path):
		const wanted = "the path %q must be lower-case literal segments, such as /bridge/something; add variables by " +
			"hand"
		return endpoint{}, fmt.Errorf(wanted, path)
	case method != "GET":
		const wanted = "only GET is supported, not %q: endpoints that change data need rules that no template covers"
		return endpoint{}, fmt.Errorf(wanted, method)
	case access != "key":
		return endpoint{}, fmt.Errorf("only endpoints with an API key (key) are supported, not %q", access)
	}
	return endpoint{Folder: strings.ToLower(name), Logical: logical(name), Path: path}, nil
}

// logical converts a name to the template's logical ID format. For example, getsomething and GetSomething both become
// GetSomething.
func logical(name string) string {
	if name != strings.ToLower(name) {
		return strings.ToUpper(name[:1]) + name[1:]
	}
	for _, verb := range []string{"get", "list", "search", "export", "find", "read", "show"} {
		if rest, ok := strings.CutPrefix(name, verb); ok && rest != "" {
			return title(verb) + title(rest)
		}
	}
	return title(name)
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// errTaken means that the endpoint already exists and that no files have been written.
var errTaken = errors.New("it exists")
