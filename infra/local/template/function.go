package template

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// function reads an AWS::Serverless::Function. Its events are kept for link, since they refer to other resources.
func (b *builder) function(r resource, o *object) {
	// The laptop builds for its own processor, starts the binary itself, and shows traces and logs as they come.
	o.ignore("Description", "Architectures", "Handler", "CodeUri", "Tracing", "LoggingConfig")
	o.oneOf("Runtime", "provided.al2023")
	if r.metadata != nil {
		metadata := within(r.metadata, "Metadata.", o.err, r.line)
		metadata.oneOf("BuildMethod", "makefile")
		metadata.finish()
	}
	folder, named := strings.CutSuffix(r.id, "Function")
	if !named {
		o.failf(r.line, "a function's logical id ends in Function, the rest is its folder")
	}
	// SAM's own defaults: 3 seconds, 128 MB.
	f := Function{
		LogicalID: r.id,
		Name:      b.ref(kindFunction, r.id),
		Folder:    strings.ToLower(folder),
		Timeout:   time.Duration(o.number("Timeout", 1, 900, 3)) * time.Second,
		MemoryMB:  o.number("MemorySize", 128, 10240, 128),
	}
	environment := o.object("Environment")
	f.Environment = environment.textMap("Variables")
	environment.finish()
	for _, document := range o.objects("Policies") {
		f.Statements = append(f.Statements, statements(document)...)
	}
	for _, e := range entries(o.mapping("Events")) {
		b.events = append(b.events, event{function: len(b.template.Functions), name: e.key, value: e.value})
	}
	b.template.Functions = append(b.template.Functions, f)
}

// statements reads one policy document. Managed policies and SAM's policy templates are not documents, and refused.
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

// event is one entry of a function's Events.
type event struct {
	function int // index in Template.Functions
	name     string
	value    *yaml.Node
}

// link reads the events of all functions once every resource is known, and checks what AWS checks across resources.
func (b *builder) link() error {
	queues, err := orderQueues(b.template.Queues)
	if err != nil {
		return err
	}
	b.template.Queues = queues
	paths := routeTable{functions: map[Route]string{}, variables: map[string]string{}}
	for _, e := range b.events {
		f := &b.template.Functions[e.function]
		o := read(e.value, e.value.Line)
		properties := o.object("Properties")
		properties.where = "Events." + e.name + "."
		switch o.oneOf("Type", "Api", "SQS", "Schedule") {
		case "Api":
			route := b.route(properties)
			paths.add(route, f.LogicalID, properties)
			f.Routes = append(f.Routes, route)
		case "SQS":
			f.QueueTriggers = append(f.QueueTriggers, b.queueTrigger(f, properties))
		case "Schedule":
			schedule := Schedule{Name: f.LogicalID + e.name, Every: rate(properties)}
			f.Schedules = append(f.Schedules, schedule)
		}
		properties.finish()
		if err := o.end(); err != nil {
			return in(f.LogicalID, err)
		}
	}
	return nil
}
