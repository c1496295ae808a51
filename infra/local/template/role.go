package template

import (
	"maps"
	"slices"
)

// role reads an AWS::IAM::Role. What functions may do stands in its inline policies; managed policies are refused, since what
// they allow stands elsewhere and changes. A role of another service has no meaning on a laptop.
func (b *builder) role(r resource, o *object) {
	o.ignore("Description")
	trust := o.object("AssumeRolePolicyDocument")
	services := trusted(trust)
	trust.finish()
	policies := o.objects("Policies")
	all := make([]Statement, 0, len(policies))
	for _, p := range policies {
		p.required("PolicyName")
		document := p.object("PolicyDocument")
		all = append(all, statements(document)...)
		p.finish()
	}
	if slices.Equal(services, []string{"lambda.amazonaws.com"}) {
		b.roles[b.arn(kindRole, r.id)] = all
	}
}

// trusted lists the services that may take a role. Nobody else may be among those who can.
func trusted(document *object) []string {
	document.oneOf("Version", "2012-10-17")
	list := document.objects("Statement")
	services := make([]string, 0, len(list))
	for _, s := range list {
		s.oneOf("Effect", "Allow")
		s.oneOf("Action", "sts:AssumeRole")
		principal := s.object("Principal")
		services = append(services, principal.texts("Service")...)
		principal.finish()
		s.finish()
	}
	return services
}

// functionNeeds is what a function cannot be without.
type functionNeeds struct {
	function int // index in Template.Functions
	line     int
	role     string // ARN
}

// permit gives every function the statements of its role. Without a role, or a log group, of the template AWS would make
// ones that nobody has written down.
func (b *builder) permit() error {
	for _, n := range b.needs {
		f := &b.template.Functions[n.function]
		allowed, ok := b.roles[n.role]
		if !ok {
			return in(f.LogicalID, refuse(n.line, "Role %q is not a role for Lambda of the template", n.role))
		}
		if !slices.Contains(slices.Collect(maps.Values(b.values.logGroups)), f.LogGroup) {
			return in(f.LogicalID, refuse(n.line, "LoggingConfig.LogGroup %q is not a log group of the template", f.LogGroup))
		}
		f.Statements = allowed
	}
	return nil
}

// statements reads one policy document.
func statements(document *object) []Statement {
	document.oneOf("Version", "2012-10-17")
	list := document.objects("Statement")
	all := make([]Statement, 0, len(list))
	for _, s := range list {
		s.oneOf("Effect", "Allow")
		statement := Statement{Sid: s.text("Sid"), Actions: s.texts("Action"), Resources: s.texts("Resource")}
		if len(statement.Actions) == 0 || len(statement.Resources) == 0 {
			s.failf(s.line(), "a statement names at least one Action and one Resource")
		}
		condition := s.object("Condition")
		for _, operator := range entries(condition.node) {
			if statement.Condition == nil {
				statement.Condition = map[string]map[string][]string{}
			}
			statement.Condition[operator.key] = conditionValues(condition, operator)
		}
		s.finish()
		all = append(all, statement)
	}
	document.finish()
	return all
}

// conditionValues reads the keys and values of one operator of a statement's Condition.
func conditionValues(condition *object, operator entry) map[string][]string {
	keys := condition.object(operator.key)
	values := map[string][]string{}
	for _, k := range entries(keys.node) {
		values[k.key] = keys.texts(k.key)
	}
	return values
}
