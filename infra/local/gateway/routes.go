package gateway

import (
	"net/url"
	"strings"

	"recordbridge/infra/local/template"
)

// place is a node in the resource tree. Each place represents one segment of a path.
type place struct {
	literals  map[string]*place
	variable  *place // child for {name}; package template allows one name per node
	greedy    *place // {name+}
	name      string // name of a variable or greedy segment
	resource  string // declared path; empty if the resource has no methods
	functions map[string]string
}

type match struct {
	resource   string
	functions  map[string]string // logical IDs of functions by method or ANY
	parameters map[string]string
}

func (p *place) add(r template.Route, function string) {
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Path, "/"), "/") {
		p = p.below(part)
	}
	p.resource = r.Path
	if p.functions == nil {
		p.functions = map[string]string{}
	}
	p.functions[r.Method] = function
}

func (p *place) below(part string) *place {
	inner, isVariable := strings.CutPrefix(part, "{")
	name, isGreedy := strings.CutSuffix(inner, "+}")
	switch {
	case isVariable && isGreedy:
		if p.greedy == nil {
			p.greedy = &place{name: name}
		}
		return p.greedy
	case isVariable:
		if p.variable == nil {
			p.variable = &place{name: strings.TrimSuffix(inner, "}")}
		}
		return p.variable
	}
	if p.literals == nil {
		p.literals = map[string]*place{}
	}
	if p.literals[part] == nil {
		p.literals[part] = &place{}
	}
	return p.literals[part]
}

// find returns the resource that matches a path. The path must still be percent-encoded, so that an encoded slash
// remains within its segment. Trailing slashes are ignored, as in API Gateway.
func (p *place) find(path string) (match, bool) {
	m := match{parameters: map[string]string{}}
	found := p.descend(strings.Split(strings.TrimRight(path[1:], "/"), "/"), m.parameters)
	if found == nil {
		return match{}, false
	}
	m.resource, m.functions = found.resource, found.functions
	return m, true
}

// descend prefers literal segments to variables, and variables to greedy segments. If a child does not match the rest
// of the path, descend backtracks.
func (p *place) descend(parts []string, parameters map[string]string) *place {
	if len(parts) == 0 {
		if p.functions == nil {
			return nil
		}
		return p
	}
	if child := p.literals[parts[0]]; child != nil {
		if found := child.descend(parts[1:], parameters); found != nil {
			return found
		}
	}
	if parts[0] == "" {
		return nil
	}
	if p.variable != nil {
		if found := p.variable.descend(parts[1:], parameters); found != nil {
			parameters[p.variable.name] = decoded(parts[0])
			return found
		}
	}
	if p.greedy != nil {
		parameters[p.greedy.name] = decoded(strings.Join(parts, "/"))
		return p.greedy
	}
	return nil
}

// decoded removes percent-encoding, because REST APIs decode path parameters before passing them to functions.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
func decoded(part string) string {
	text, err := url.PathUnescape(part)
	if err != nil {
		return part
	}
	return text
}
