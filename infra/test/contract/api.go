package contract

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// API checks responses against docs/openapi.yaml.
type API struct {
	record

	paths   []path
	failure *response // error envelope for undocumented paths
}

type path struct {
	segments   []string
	foreign    bool // whether the path belongs to a simulated third-party server
	operations map[string]*operation
}

type operation struct {
	name      string // method and path, as written in the document
	responses map[int]*response
}

type response struct {
	name      string // operation and status; prefix of its parts' names
	media     string // media type; empty if the response has no body
	body      *schema
	headers   map[string]header
	locations []*schema // alternative schemas for the query string of the Location URL
}

type header struct {
	schema   *schema
	required bool
}

// Answer is a response as the caller received it.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// ReadAPI parses an OpenAPI document.
func ReadAPI(text []byte) (*API, error) {
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	c := newCompiler(document)
	api := &API{}
	described, _ := document["paths"].(map[string]any)
	for name, item := range described {
		p, err := c.path(name, item)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		api.paths = append(api.paths, p)
	}
	failure, err := c.compile(map[string]any{"$ref": "#/components/schemas/Error"})
	if err != nil {
		return nil, err
	}
	api.failure = &response{name: "an unknown path", media: "application/json", body: failure}
	api.declareAll()
	return api, nil
}

func (c *compiler) path(name string, item any) (path, error) {
	p := path{segments: strings.Split(name, "/"), operations: map[string]*operation{}}
	described, _ := item.(map[string]any)
	for key, value := range described {
		if key == "parameters" {
			continue
		}
		rules, err := c.follow(value)
		if err != nil {
			return path{}, fmt.Errorf("%s: %w", key, err)
		}
		if isForeign, _ := rules["x-test-mode-only"].(bool); isForeign {
			p.foreign = true
			continue
		}
		method := strings.ToUpper(key)
		if p.operations[method], err = c.operation(method+" "+name, rules); err != nil {
			return path{}, fmt.Errorf("%s: %w", key, err)
		}
	}
	return p, nil
}

func (c *compiler) operation(name string, described map[string]any) (*operation, error) {
	o := &operation{name: name, responses: map[int]*response{}}
	responses, _ := described["responses"].(map[string]any)
	for status, value := range responses {
		code, err := strconv.Atoi(status)
		if err != nil {
			return nil, fmt.Errorf("the status %s: %w", status, err)
		}
		if o.responses[code], err = c.response(name+" "+status, value); err != nil {
			return nil, fmt.Errorf("%s: %w", status, err)
		}
	}
	return o, nil
}

func (c *compiler) response(name string, value any) (*response, error) {
	described, err := c.follow(value)
	if err != nil {
		return nil, err
	}
	r := &response{name: name, headers: map[string]header{}}
	headers, _ := described["headers"].(map[string]any)
	for name, value := range headers {
		if r.headers[name], err = c.header(value); err != nil {
			return nil, fmt.Errorf("the header %s: %w", name, err)
		}
	}
	content, _ := described["content"].(map[string]any)
	if len(content) > 1 {
		return nil, errors.New("more than one media type")
	}
	for media, value := range content {
		rules, _ := value.(map[string]any)
		r.media = media
		if r.body, err = c.compile(rules["schema"]); err != nil {
			return nil, err
		}
	}
	if described["x-location-query"] != nil {
		r.locations, err = c.list(described["x-location-query"])
	}
	return r, err
}

func (c *compiler) header(value any) (header, error) {
	rules, err := c.follow(value)
	if err != nil {
		return header{}, err
	}
	required, _ := rules["required"].(bool)
	compiled, err := c.compile(rules["schema"])
	return header{compiled, required}, err
}

func (a *API) declareAll() {
	for _, p := range a.paths {
		for _, o := range p.operations {
			for _, r := range o.responses {
				a.declare(r.name)
				for name := range r.headers {
					a.declare(r.name + " header " + name)
				}
				if r.body != nil {
					declared("", []*schema{r.body}, func(at string) { a.declare(r.name + " " + at) })
				}
				declared("", r.locations, func(at string) { a.declare(r.name + " Location?" + at) })
			}
		}
	}
}
