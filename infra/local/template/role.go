package template

import "slices"

type role struct {
	id         string
	line       int
	statements []Statement
	tags       map[string]string
}

// role reads an AWS::IAM::Role, whose inline policies contain the functions' permissions. Managed policies are
// rejected, because their content is defined elsewhere and can change. Of the roles for services other than Lambda,
// only API Gateway's affects a local stack.
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
	tags := map[string]string{}
	for _, t := range o.objects("Tags") {
		tags[t.required("Key")] = t.text("Value")
		t.finish()
	}
	read := role{id: r.id, line: r.line, statements: all, tags: tags}
	switch {
	case slices.Equal(services, []string{"lambda.amazonaws.com"}):
		b.roles[b.arn(kindRole, r.id)] = read
	case slices.Equal(services, []string{"apigateway.amazonaws.com"}):
		b.gateway[b.arn(kindRole, r.id)] = read
	}
}

// trusted returns the services that are allowed to assume a role. It rejects principals other than services.
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

type functionNeeds struct {
	function int // index in Template.Functions
	line     int
	role     string // role ARN
	retries  int    // maximum retries of a failed scheduled invocation
}

// lambdaRetries is Lambda's default number of retries of a failed asynchronous invocation.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
const lambdaRetries = 2

func (b *builder) isLogGroup(name string) bool {
	for id, kind := range b.values.resources {
		if kind == kindLogGroup && b.values.chosen[id] == name {
			return true
		}
	}
	return false
}

// assignStatements gives every function its role's statements. The template must declare the role and the log group;
// otherwise, AWS would create them implicitly.
func (b *builder) assignStatements() error {
	for _, n := range b.needs {
		f := &b.template.Functions[n.function]
		allowed, ok := b.roles[n.role]
		if !ok {
			return in(f.LogicalID, refuse(n.line, "Role %q is not a role for Lambda of the template", n.role))
		}
		if !b.isLogGroup(f.LogGroup) {
			return in(f.LogicalID, refuse(n.line, "LoggingConfig.LogGroup %q is not a log group of the template", f.LogGroup))
		}
		if len(f.Schedules) > 0 && n.retries != 0 {
			return in(f.LogicalID, refuse(n.line, "EventInvokeConfig.MaximumRetryAttempts is not 0: the runner repeats no "+
				"scheduled run"))
		}
		f.Statements = allowed.statements
	}
	return b.checkKeyPolicies()
}

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

// conditionValues reads the keys and values under one operator of a statement's Condition.
func conditionValues(condition *object, operator entry) map[string][]string {
	keys := condition.object(operator.key)
	values := map[string][]string{}
	for _, k := range entries(keys.node) {
		values[k.key] = keys.texts(k.key)
	}
	return values
}
