package iam

import (
	"errors"
	"slices"
	"strings"

	"recordbridge/infra/local/template"
)

var errAction = errors.New("an action has the form service:Name")

// statement is a template.Statement preprocessed for permission decisions.
type statement struct {
	template.Statement

	conditions []condition
	patterns   []string // actions in lower case, for comparison
	kinds      []string // kinds of rows that the statement names, or a single empty kind
}

func compile(declared template.Statement) (statement, error) {
	for _, action := range declared.Actions {
		if !strings.Contains(action, ":") {
			return statement{}, errAction
		}
	}
	for _, resource := range declared.Resources {
		if strings.Contains(resource, "${") {
			return statement{}, errVariable
		}
	}
	all, err := conditions(declared.Condition)
	s := statement{Statement: declared, conditions: all, kinds: rowsOf(declared)}
	for _, action := range declared.Actions {
		s.patterns = append(s.patterns, strings.ToLower(action))
	}
	return s, err
}

type need struct {
	action   string              // required action, such as "dynamodb:GetItem"
	resource string              // ARN
	others   []string            // other ARNs of the same resource, any of which a statement may use
	keys     map[string][]string // request's values by condition key in lower case
}

// grants reports whether the statement allows n, and returns the statement's matching action and resource.
func (s *statement) grants(n need) (action, resource string, ok bool) {
	action = strings.ToLower(n.action)
	i := slices.IndexFunc(s.patterns, func(pattern string) bool { return matches(pattern, action) })
	if i < 0 {
		return "", "", false
	}
	j := slices.IndexFunc(s.Resources, func(pattern string) bool {
		return matches(pattern, n.resource) ||
			slices.ContainsFunc(n.others, func(other string) bool { return matches(pattern, other) })
	})
	if j < 0 || slices.ContainsFunc(s.conditions, func(c condition) bool { return !c.holds(n.keys) }) {
		return "", "", false
	}
	return s.Actions[i], s.Resources[j], true
}

// allow returns the grants of the first statement that allows n, with one grant per kind of row.
func (r *role) allow(n need) ([]Grant, bool) {
	for i := range r.statements {
		s := &r.statements[i]
		action, resource, ok := s.grants(n)
		if !ok {
			continue
		}
		touched := s.rows(n)
		used := make([]Grant, 0, len(touched))
		for _, rows := range touched {
			used = append(used, Grant{
				Function: r.function, Statement: i, Sid: s.Sid, Action: action,
				Resource: resource, Rows: rows,
			})
		}
		return used, true
	}
	return nil, false
}

// rows returns the kinds of rows that the statement names and n accesses, or a single empty string if the statement
// names none.
func (s *statement) rows(n need) []string {
	if s.kinds[0] == "" {
		return s.kinds
	}
	var touched []string
	for _, key := range n.keys[leadingKeys] {
		i := slices.IndexFunc(s.kinds, func(pattern string) bool { return matches(pattern, ofBothModes(key)) })
		if i >= 0 && !slices.Contains(touched, s.kinds[i]) {
			touched = append(touched, s.kinds[i])
		}
	}
	return touched
}

// matches reports whether text matches pattern. In a pattern, * matches any number of characters and ? matches exactly
// one character.
func matches(pattern, text string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return pattern == text
	}
	star, resume := -1, 0 // position of the last * in pattern, and position in text at which to retry
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			resume++
			p, t = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
