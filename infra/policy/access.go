package policy

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// statement is one permission of a policy document.
type statement struct {
	sid, effect        string
	actions, resources []string // resources as Fn::Sub would write them
	principal          any
	condition          any
}

// statements reads a policy document.
func statements(document any) []statement {
	items := list(at(document, "Statement"))
	all := make([]statement, 0, len(items))
	for _, s := range items {
		all = append(all, statement{
			sid: scalar(at(s, "Sid")), effect: scalar(at(s, "Effect")),
			actions: shorts(at(s, "Action")), resources: shorts(at(s, "Resource")),
			principal: at(s, "Principal"), condition: at(s, "Condition"),
		})
	}
	return all
}

// Wildcards finds statements that allow more than they name: an action with *, or a resource with * other than the
// objects of a bucket of the template. Only a key's policy may delegate everything to the account's own IAM, since
// without it nobody could ever change the key. Policies that are not written out in statements count as well.
func Wildcards(s *Stack) []Finding {
	var found findings
	for _, r := range s.Resources {
		for _, st := range s.allowed(r, &found) {
			if r.Type != kindKey || !delegates(st) {
				s.wildcards(r.ID, st, &found)
			}
		}
	}
	return found.sorted()
}

// wildcards finds those of one statement.
func (s *Stack) wildcards(id string, st statement, found *findings) {
	for _, a := range st.actions {
		if strings.Contains(a, "*") {
			found.addf(id, "%s allows the action %s", st.sid, a)
		}
	}
	for _, on := range st.resources {
		if strings.Contains(on, "*") && !s.isObjects(on) {
			found.addf(id, "%s allows the resource %s", st.sid, on)
		}
	}
}

// allowed lists the Allow statements of a resource, and finds function policies that are none.
func (s *Stack) allowed(r Resource, found *findings) []statement {
	documents := []any{r.Properties["PolicyDocument"], r.Properties["KeyPolicy"]}
	if r.Type == kindFunction {
		if r.Properties["Role"] != nil {
			found.addf(r.ID, "has a role that is not made of its own statements")
		}
		for _, p := range list(r.Properties["Policies"]) {
			if at(p, "Statement") == nil {
				found.addf(r.ID, "has a policy that is not written out: %s", short(p))
			}
			documents = append(documents, p)
		}
	}
	all := make([]statement, 0, len(documents))
	for _, d := range documents {
		all = append(all, statements(d)...)
	}
	return slices.DeleteFunc(all, func(st statement) bool { return st.effect != "Allow" })
}

// delegates tells the statement of a key policy that leaves all decisions to IAM.
func delegates(st statement) bool {
	return short(at(st.principal, "AWS")) == "arn:${AWS::Partition}:iam::${AWS::AccountId}:root" &&
		slices.Equal(st.actions, []string{"kms:*"})
}

// isObjects tells whether a resource is the objects of one of the template's buckets.
func (s *Stack) isObjects(resource string) bool {
	return slices.ContainsFunc(s.of(kindBucket), func(b Resource) bool { return resource == "${"+b.ID+".Arn}/*" })
}

// NoScan finds what reads a whole table: permissions for it in the template, requests for it in the code.
func NoScan(s *Stack, t *Tree) []Finding {
	var found, other findings
	for _, r := range s.Resources {
		for _, st := range s.allowed(r, &other) {
			for _, a := range st.actions {
				if strings.EqualFold(a, "dynamodb:Scan") || strings.HasPrefix(strings.ToLower(a), "dynamodb:partiql") {
					found.addf(r.ID, "%s allows %s", st.sid, a)
				}
			}
		}
	}
	calls := []string{"ScanInput", "NewScanPaginator", "ExecuteStatementInput", "BatchExecuteStatementInput"}
	for _, f := range t.production() {
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(calls, s.Sel.Name) {
				found.addf(t.where(n.Pos()), "reads a whole table (%s)", s.Sel.Name)
			}
			return true
		})
	}
	return found.sorted()
}

// Reserved finds functions that a resource of the template is closed to but that name it in their permissions or
// environment. allowed maps a resource's logical id to the logical ids of the functions that may.
func Reserved(s *Stack, allowed map[string][]string) []Finding {
	var found findings
	for _, id := range slices.Sorted(maps.Keys(allowed)) {
		if !slices.ContainsFunc(s.Resources, func(r Resource) bool { return r.ID == id }) {
			found.addf(id, "is not in the template")
		}
		for _, f := range s.of(kindFunction) {
			if slices.Contains(references(f.Properties), id) && !slices.Contains(allowed[id], f.ID) {
				found.addf(f.ID, "may not touch %s", id)
			}
		}
	}
	return found.sorted()
}
