package policy

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

type statement struct {
	sid, effect        string
	actions, resources []string // Fn::Sub strings
	principal          any
	condition          any
	inverted           []string // elements that match everything not listed: NotAction, NotResource and NotPrincipal
}

// statements parses a policy document.
func statements(document any) []statement {
	items := list(at(document, "Statement"))
	all := make([]statement, 0, len(items))
	for _, s := range items {
		one := statement{
			sid: scalar(at(s, "Sid")), effect: scalar(at(s, "Effect")),
			actions: shorts(at(s, "Action")), resources: shorts(at(s, "Resource")),
			principal: at(s, "Principal"), condition: at(s, "Condition"),
		}
		for _, element := range []string{"NotAction", "NotPrincipal", "NotResource"} {
			if at(s, element) != nil {
				one.inverted = append(one.inverted, element)
			}
		}
		all = append(all, one)
	}
	return all
}

// forAccount reports whether a statement applies only to requests on behalf of the stack's own account.
func (st statement) forAccount() bool {
	return short(at(st.condition, "StringEquals", "aws:SourceAccount")) == "${AWS::AccountId}"
}

// Wildcards reports policy statements that are too broad. A statement is reported if one of its actions contains a
// wildcard, or if it allows everything that is not listed. A wildcard in a resource is reported unless it selects the
// objects in one of the template's buckets. A statement is also reported if it allows every principal, or a service
// acting on behalf of any account. A condition does not exempt a policy statement from these rules. Only a key policy
// may delegate all access to the account's IAM, because otherwise the key could become unmanageable. In a key policy, a
// Resource of * means the key itself. Wildcards also reports permissions outside a role's own statements, except
// permissions that let one of the stack's schedules start a function.
func Wildcards(s *Stack) []Finding {
	var found findings
	for _, r := range s.Resources {
		if strings.HasPrefix(r.Type, "AWS::IAM::") && r.Type != kindRole || r.Type == kindPermission && !starts(r) {
			found.addf(r.ID, "gives permissions outside a role's own statements")
		}
		if r.Properties["FunctionUrlConfig"] != nil {
			found.addf(r.ID, "is reached without API Gateway (FunctionUrlConfig)")
		}
		for _, st := range s.allowed(r, &found) {
			if r.Type != kindKey || !delegates(st) {
				s.wildcards(r, st, &found)
				st.everybody(r.ID, &found)
			}
		}
	}
	return found.sorted()
}

func (s *Stack) wildcards(r Resource, st statement, found *findings) {
	for _, element := range st.inverted {
		found.addf(r.ID, "%s allows all but what it names (%s)", st.sid, element)
	}
	for _, a := range st.actions {
		if strings.ContainsAny(a, "*?") {
			found.addf(r.ID, "%s allows the action %s", st.sid, a)
		}
	}
	for _, on := range st.resources {
		itself := on == "*" && (r.Type == kindKey || knowNoResource(st.actions))
		if strings.ContainsAny(on, "*?") && !itself && !s.isObjects(on) {
			found.addf(r.ID, "%s allows the resource %s", st.sid, on)
		}
	}
}

// knowNoResource reports whether none of the actions supports a resource type, so that * is the only possible resource.
// docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
func knowNoResource(actions []string) bool {
	known := []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords", "cloudwatch:DescribeAlarms"}
	return !slices.ContainsFunc(actions, func(a string) bool { return !slices.Contains(known, a) })
}

// starts reports whether a permission allows a schedule's rule to invoke a function. API Gateway invokes functions
// through a role, not through a permission resource.
func starts(permission Resource) bool {
	return scalar(permission.Properties["Principal"]) == "events.amazonaws.com" &&
		permission.Properties["SourceArn"] != nil
}

// everybody reports a statement in a resource policy that grants access to every principal, or to a service acting on
// behalf of any account.
func (st statement) everybody(id string, found *findings) {
	anybody := slices.Contains(shorts(st.principal), "*")
	for _, who := range fields(st.principal) {
		anybody = anybody || slices.Contains(shorts(who), "*")
	}
	switch {
	case anybody:
		found.addf(id, "%s lets everybody in", st.sid)
	case at(st.principal, "Service") != nil && !st.forAccount():
		found.addf(id, "%s lets %s in for any account (aws:SourceAccount)", st.sid, short(at(st.principal, "Service")))
	}
}

// OutsideTemplate reports role permissions on resources outside the template, which usually result from typing errors.
// A permission on an index must name the index's own table.
func OutsideTemplate(s *Stack) []Finding {
	var found, other findings
	for _, r := range s.of(kindRole) {
		for _, st := range s.allowed(r, &other) {
			for _, on := range st.resources {
				if !s.owns(on) && !knowNoResource(st.actions) {
					found.addf(r.ID, "%s allows %s, which is nothing of the template", st.sid, on)
				}
			}
		}
	}
	return found.sorted()
}

// owned matches a reference to one of the template's resources, with an optional suffix for objects, an index or an
// alias.
var owned = regexp.MustCompile(`^\$\{(\w+)(?:\.Arn)?\}(?:/(?:\w+/)?\*|/index/(\w+)|:live)?$`)

// owns reports whether a resource in a statement belongs to the template.
func (s *Stack) owns(on string) bool {
	for _, p := range s.of(kindParameter) {
		if strings.HasSuffix(on, ":parameter"+short(p.Properties["Name"])) {
			return true
		}
	}
	if on == "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/${MailFrom}" {
		return true // the operator verifies the email address in SES, outside the stack
	}
	if on == "${TefcaSecretArn}" {
		return true // the operator stores the networks' credentials outside the stack
	}
	if s.isObjects(on) {
		return true
	}
	m := owned.FindStringSubmatch(on)
	return m != nil && slices.ContainsFunc(s.Resources, func(r Resource) bool {
		hasIndex := func(g any) bool { return scalar(at(g, "IndexName")) == m[2] }
		return r.ID == m[1] && (m[2] == "" || slices.ContainsFunc(list(r.Properties["GlobalSecondaryIndexes"]), hasIndex))
	})
}

// allowed returns a resource's Allow statements. It reports roles and functions whose policies are defined partly or
// fully outside the template.
func (s *Stack) allowed(r Resource, found *findings) []statement {
	policies := list(r.Properties["Policies"])
	documents := make([]any, 0, 3+len(policies))
	documents = append(documents, r.Properties["PolicyDocument"], r.Properties["KeyPolicy"],
		r.Properties["ResourcePolicy"])
	for _, p := range policies {
		if r.Type != kindRole || at(p, "PolicyDocument", "Statement") == nil {
			found.addf(r.ID, "has a policy that is not written out: %s", short(p))
		}
		documents = append(documents, at(p, "PolicyDocument"))
	}
	for _, p := range list(r.Properties["ManagedPolicyArns"]) {
		found.addf(r.ID, "has a policy that is not written out: %s", short(p))
	}
	all := make([]statement, 0, len(documents))
	for _, d := range documents {
		all = append(all, statements(d)...)
	}
	return slices.DeleteFunc(all, func(st statement) bool { return st.effect != "Allow" })
}

// delegates reports whether a statement in a key policy delegates all decisions to IAM.
func delegates(st statement) bool {
	return short(at(st.principal, "AWS")) == "arn:${AWS::Partition}:iam::${AWS::AccountId}:root" &&
		slices.Equal(st.actions, []string{"kms:*"})
}

// isObjects reports whether a resource denotes objects in one of the template's buckets: all objects, those in a
// folder, or a single named object.
func (s *Stack) isObjects(resource string) bool {
	return slices.ContainsFunc(s.of(kindBucket), func(b Resource) bool {
		within, ok := strings.CutPrefix(resource, "${"+b.ID+".Arn}/")
		folder, name := path.Split(within)
		isNamed := name != "" && !strings.ContainsAny(name, "*?")
		parts := strings.Split(strings.TrimSuffix(folder, "/"), "/")
		isWild := func(part string) bool { return strings.ContainsAny(part, "*?") && (!isNamed || part != "*") }
		return ok && (isNamed || name == "*") && !slices.ContainsFunc(parts, isWild)
	})
}

// Reserved reports functions whose permissions or environment use a reserved resource without authorisation. allowed
// maps each reserved resource's logical ID to the logical IDs of the functions that may use it.
func Reserved(s *Stack, allowed map[string][]string) []Finding {
	var found findings
	for _, id := range slices.Sorted(maps.Keys(allowed)) {
		if !slices.ContainsFunc(s.Resources, func(r Resource) bool { return r.ID == id }) &&
			!slices.Contains(s.Parameters, id) {
			found.addf(id, "is not in the template")
		}
		for _, f := range s.functions() {
			touched := append(references(f.Properties), references(s.roleOf(f).Properties)...)
			if slices.Contains(touched, id) && !slices.Contains(allowed[id], f.ID) {
				found.addf(f.ID, "may not touch %s", id)
			}
		}
	}
	return found.sorted()
}
