package iam

import (
	"slices"

	"recordbridge/infra/local/template"
)

// Grant is one action on one resource of one statement of a function: the smallest piece that can be missing.
type Grant struct {
	Function  string // logical id
	Statement int    // index in the function's statements
	Sid       string
	Action    string // as the statement has it, perhaps with *
	Resource  string
}

// Grants lists every grant of the functions, in the order of the template.
func Grants(functions []template.Function) []Grant {
	var all []Grant
	for _, f := range functions {
		for i, s := range f.Statements {
			for _, action := range s.Actions {
				for _, resource := range s.Resources {
					all = append(all, Grant{Function: f.LogicalID, Statement: i, Sid: s.Sid, Action: action, Resource: resource})
				}
			}
		}
	}
	return all
}

// Without copies the functions and takes g out of them; the rest of its statement stays, in two statements when that
// needs two. So a test can show that a grant is necessary.
func Without(functions []template.Function, g Grant) []template.Function {
	kept := slices.Clone(functions)
	for i := range kept {
		f := &kept[i]
		if f.LogicalID != g.Function || g.Statement < 0 || g.Statement >= len(f.Statements) {
			continue
		}
		s := f.Statements[g.Statement]
		otherResources, otherActions := s, s
		otherResources.Resources = without(s.Resources, g.Resource)
		otherActions.Actions, otherActions.Resources = without(s.Actions, g.Action), []string{g.Resource}
		rest := slices.DeleteFunc([]template.Statement{otherResources, otherActions}, func(s template.Statement) bool {
			return len(s.Actions) == 0 || len(s.Resources) == 0
		})
		f.Statements = slices.Concat(f.Statements[:g.Statement], rest, f.Statements[g.Statement+1:])
	}
	return kept
}

func without(list []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == gone })
}
