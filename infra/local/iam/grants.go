package iam

import (
	"maps"
	"slices"
	"strings"

	"recordbridge/infra/local/template"
)

// Grant is one action on one resource of one statement of a function, and on one kind of rows where the statement names
// kinds: the smallest piece that can be missing.
type Grant struct {
	Function  string // logical id
	Statement int    // index in the function's statements
	Sid       string
	Action    string // as the statement has it, perhaps with *
	Resource  string
	// Rows is the pattern of partition keys, as the statement has it under dynamodb:LeadingKeys; empty where it has
	// none. The patterns of both modes are one grant, which has the spelling of test mode: what a function does in one
	// mode, it does in the other.
	Rows string
}

// Grants lists every grant of the functions, in the order of the template.
func Grants(functions []template.Function) []Grant {
	var all []Grant
	for _, f := range functions {
		for i, s := range f.Statements {
			for _, action := range s.Actions {
				for _, resource := range s.Resources {
					for _, rows := range rowsOf(s) {
						all = append(all, Grant{
							Function: f.LogicalID, Statement: i, Sid: s.Sid, Action: action,
							Resource: resource, Rows: rows,
						})
					}
				}
			}
		}
	}
	return all
}

// rowsOf lists the kinds of rows that a statement names, one empty one where it names none.
func rowsOf(s template.Statement) []string {
	var all []string
	for _, keys := range s.Condition {
		for key, patterns := range keys {
			for _, pattern := range patterns {
				if rows := ofBothModes(pattern); strings.EqualFold(key, leadingKeys) && !slices.Contains(all, rows) {
					all = append(all, rows)
				}
			}
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// ofBothModes writes a pattern of live mode's rows as that of test mode's.
func ofBothModes(pattern string) string {
	if rest, live := strings.CutPrefix(pattern, "live#"); live {
		return "test#" + rest
	}
	return pattern
}

// Without copies the functions and takes g out of them; the rest of its statement stays, in as many statements as that
// needs. So a test can show that a grant is necessary.
func Without(functions []template.Function, g Grant) []template.Function {
	kept := slices.Clone(functions)
	for i := range kept {
		f := &kept[i]
		if f.LogicalID != g.Function || g.Statement < 0 || g.Statement >= len(f.Statements) {
			continue
		}
		s := f.Statements[g.Statement]
		otherResources, otherActions, otherRows := s, s, s
		otherResources.Resources = without(s.Resources, g.Resource)
		otherActions.Actions, otherActions.Resources = without(s.Actions, g.Action), []string{g.Resource}
		otherRows.Actions, otherRows.Resources = []string{g.Action}, []string{g.Resource}
		rest := []template.Statement{otherResources, otherActions}
		if otherRows.Condition = withoutRows(s.Condition, g.Rows); g.Rows != "" && rowsOf(otherRows)[0] != "" {
			rest = append(rest, otherRows)
		}
		rest = slices.DeleteFunc(rest, func(s template.Statement) bool {
			return len(s.Actions) == 0 ||
				len(s.Resources) == 0
		})
		f.Statements = slices.Concat(f.Statements[:g.Statement], rest, f.Statements[g.Statement+1:])
	}
	return kept
}

func without(list []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == gone })
}

// withoutRows copies a condition and takes a kind of rows, of both modes, out of it.
func withoutRows(condition map[string]map[string][]string, rows string) map[string]map[string][]string {
	kept := map[string]map[string][]string{}
	for operator, keys := range condition {
		kept[operator] = maps.Clone(keys)
		for key, patterns := range keys {
			if strings.EqualFold(key, leadingKeys) {
				kept[operator][key] = slices.DeleteFunc(slices.Clone(patterns),
					func(p string) bool { return ofBothModes(p) == rows })
			}
		}
	}
	return kept
}

// Lambda writes a function's lines and segments of traces with the function's role, and is silent about what it may not
// write. Who runs functions here asks before it shows a line or an invocation, so that a role which is short of these
// rights is noticed.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html

// MayLog tells whether Lambda may keep what a function writes in a stream of its log group.
func (a *Authority) MayLog(function string) bool {
	stream := "arn:aws:logs" + place + "log-group:" + a.groups[function] + ":log-stream:1"
	return a.mayAll(function, []need{
		{action: "logs:CreateLogStream", resource: stream}, {action: "logs:PutLogEvents", resource: stream},
	})
}

// MayTrace tells whether Lambda may tell X-Ray about a function's invocations. X-Ray knows no resources in this.
func (a *Authority) MayTrace(function string) bool {
	return a.mayAll(function, []need{
		{action: "xray:PutTraceSegments", resource: "*"}, {action: "xray:PutTelemetryRecords", resource: "*"},
	})
}

// mayAll keeps the record as for a call of the function itself.
func (a *Authority) mayAll(function string, needs []need) bool {
	caller, known := a.roles[function]
	if !known {
		caller = &role{function: function}
	}
	_, ok := a.decide(caller, needs)
	return ok
}
