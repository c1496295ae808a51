package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// endpoint holds the requested endpoint's names as the templates use them.
type endpoint struct {
	Folder  string // getsomething: its folder below functions/, and its name in documents and alarms
	Logical string // GetSomething: the prefix of its logical ids
	Path    string // /bridge/something
}

// Operation returns the operation's id in the OpenAPI description: getSomething.
func (e endpoint) Operation() string { return strings.ToLower(e.Logical[:1]) + e.Logical[1:] }

var (
	validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,39}$`)
	validPath = regexp.MustCompile(`^(/[a-z0-9][a-z0-9._-]*)+$`)
)

// newEndpoint parses the command line.
func newEndpoint(name, method, path, access string) (endpoint, error) {
	switch {
	case !validName.MatchString(name):
		return endpoint{}, fmt.Errorf("the name %q is not 3 to 40 letters and digits, such as GetSomething", name)
	case !validPath.MatchString(path):
		const wanted = "the path %q is not literal parts in lower case, such as /bridge/something: add variables by hand"
		return endpoint{}, fmt.Errorf(wanted, path)
	case method != "GET":
		const wanted = "only GET is written, not %q: what changes something needs rules that no template knows"
		return endpoint{}, fmt.Errorf(wanted, method)
	case access != "key":
		return endpoint{}, fmt.Errorf("only endpoints with a key (key) are written, not %q", access)
	}
	return endpoint{Folder: strings.ToLower(name), Logical: logical(name), Path: path}, nil
}

// logical converts a name to the form of the template's logical ids: both getsomething and GetSomething become
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

// errTaken is returned when the endpoint already exists. Nothing is written then.
var errTaken = errors.New("it exists")
