package iam

import (
	"maps"
	"slices"
	"strings"

	"recordbridge/infra/local/template"
)

// Grant is a single action that one of a function's statements allows on a single resource. If the statement is limited
// to kinds of rows, the grant covers a single kind. A Grant is the smallest unit of permission that can be missing.
type Grant struct {
	Function  string // the function's logical ID
	Statement int    // index of the statement in the function's statements
	Sid       string
	Action    string // action as written in the statement, possibly with *
	Resource  string
	// Rows is the statement's pattern of partition keys (condition key dynamodb:LeadingKeys), or empty if the statement
	// has none. A pattern that occurs for both modes forms a single grant in its test-mode form, because a function
	// behaves the same in both modes.
	Rows string
}

// Grants returns every grant of the functions, in template order.
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

// rowsOf returns the kinds of rows that a statement names, or a single empty string if it names none.
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

// ofBothModes converts a pattern for live-mode rows to its test-mode form.
func ofBothModes(pattern string) string {
	if rest, live := strings.CutPrefix(pattern, "live#"); live {
		return "test#" + rest
	}
	return pattern
}

// Without returns copies of the functions with the grant g removed. The rest of the statement that contains g is kept,
// and split if necessary. Tests use Without to show that a grant is necessary.
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

// withoutRows returns a copy of condition that omits one kind of row in both modes.
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

// Lambda writes a function's log lines and trace segments with the function's role, and silently drops those that the
// role does not allow. The runner therefore checks the permission before it shows a line or an invocation. Otherwise, a
// missing permission would go unnoticed. https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html

// MayLog reports whether Lambda may write a function's output to its log group.
func (a *Authority) MayLog(function string) bool {
	stream := "arn:aws:logs" + place + "log-group:" + a.groups[function] + ":log-stream:1"
	return a.mayAll(function, []need{
		{action: "logs:CreateLogStream", resource: stream}, {action: "logs:PutLogEvents", resource: stream},
	})
}

// MayTrace reports whether Lambda may report a function's invocations to X-Ray. X-Ray's reporting actions don't support
// resource-level permissions.
func (a *Authority) MayTrace(function string) bool {
	return a.mayAll(function, []need{
		{action: "xray:PutTraceSegments", resource: "*"}, {action: "xray:PutTelemetryRecords", resource: "*"},
	})
}

// mayAll checks and records the required permissions as if the function itself had made the call.
func (a *Authority) mayAll(function string, needs []need) bool {
	caller, known := a.roles[function]
	if !known {
		caller = &role{function: function}
	}
	_, ok := a.decide(caller, needs)
	return ok
}
