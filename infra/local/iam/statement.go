package iam

import (
	"errors"
	"slices"
	"strings"

	"recordbridge/infra/local/template"
)

var errAction = errors.New("an action has the form service:Name")

// statement is a template.Statement ready to decide.
type statement struct {
	template.Statement

	conditions []condition
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
	return statement{Statement: declared, conditions: all}, err
}

// need is one permission without which a call is refused.
type need struct {
	action   string              // "dynamodb:GetItem"
	resource string              // ARN
	others   []string            // further ARNs of the same thing, under which a statement may allow it
	keys     map[string][]string // condition keys in lower case
}

// grants tells whether the statement allows n, with the action and the resource of the statement that do.
func (s *statement) grants(n need) (action, resource string, ok bool) {
	i := slices.IndexFunc(s.Actions, func(pattern string) bool {
		return matches(strings.ToLower(pattern), strings.ToLower(n.action))
	})
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

// allow finds the first statement that grants n, and what of it n uses: a grant for each kind of rows.
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
			used = append(used, Grant{Function: r.function, Statement: i, Sid: s.Sid, Action: action, Resource: resource, Rows: rows})
		}
		return used, true
	}
	return nil, false
}

// rows lists the kinds of rows of the statement that n touches, one empty one where the statement names none.
func (s *statement) rows(n need) []string {
	declared := rowsOf(s.Statement)
	if declared[0] == "" {
		return declared
	}
	var touched []string
	for _, key := range n.keys[leadingKeys] {
		i := slices.IndexFunc(declared, func(pattern string) bool { return matches(pattern, ofBothModes(key)) })
		if i >= 0 && !slices.Contains(touched, declared[i]) {
			touched = append(touched, declared[i])
		}
	}
	return touched
}
