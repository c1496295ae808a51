package template

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// function reads an AWS::Serverless::Function. link reads the function's events later, because events refer to other
// resources.
func (b *builder) function(r resource, o *object) {
	// A local stack builds functions for this machine's processor, starts the binaries itself, and shows traces and
	// logs as they arrive. Local functions have no published versions, because the newest build always runs.
	o.ignore("Description", "Architectures", "Handler", "CodeUri", "Tracing", "AutoPublishAlias", "AutoPublishCodeSha256",
		"DeploymentPreference")
	o.oneOf("Runtime", "provided.al2023")
	folder, named := strings.CutSuffix(r.id, "Function")
	if !named {
		o.failf(r.line, "a function's logical id ends in Function, the rest is its folder")
	}
	// SAM's defaults are a timeout of 3 seconds and 128 MB of memory.
	f := Function{
		LogicalID: r.id,
		Name:      b.ref(kindFunction, r.id),
		Folder:    strings.ToLower(folder),
		Timeout:   time.Duration(o.number("Timeout", 1, 900, 3)) * time.Second,
		MemoryMB:  o.number("MemorySize", 128, 10240, 128),
	}
	f.Reserved = o.number("ReservedConcurrentExecutions", 0, 1000, 0)
	environment := o.object("Environment")
	f.Environment = environment.textMap("Variables")
	environment.finish()
	logging := o.object("LoggingConfig")
	logging.ignore("LogFormat")
	f.LogGroup = logging.text("LogGroup")
	logging.finish()
	repeats := o.object("EventInvokeConfig")
	b.needs = append(b.needs, functionNeeds{
		function: len(b.template.Functions), line: r.line, role: o.text("Role"),
		retries: repeats.number("MaximumRetryAttempts", 0, 2, lambdaRetries),
	})
	repeats.number("MaximumEventAgeInSeconds", 60, 21600, 21600)
	repeats.finish()
	for _, e := range entries(o.mapping("Events")) {
		b.events = append(b.events, event{function: len(b.template.Functions), name: e.key, value: e.value})
	}
	b.template.Functions = append(b.template.Functions, f)
}

type event struct {
	function int // index in Template.Functions
	name     string
	value    *yaml.Node
}

// link reads all functions' events once all resources are known, and applies AWS's checks across resources.
func (b *builder) link() error {
	queues, err := orderQueues(b.template.Queues, b.closed)
	if err != nil {
		return err
	}
	b.template.Queues = queues
	if err := b.connect(); err != nil {
		return err
	}
	for _, e := range b.events {
		f := &b.template.Functions[e.function]
		o := read(e.value, e.value.Line)
		properties := o.object("Properties")
		properties.where = "Events." + e.name + "."
		switch o.oneOf("Type", "SQS", "Schedule") {
		case "SQS":
			trigger := b.queueTrigger(f, properties)
			trigger.LogicalID = f.LogicalID + e.name
			f.QueueTriggers = append(f.QueueTriggers, trigger)
		case "Schedule":
			schedule := Schedule{Name: f.LogicalID + e.name, Every: rate(properties)}
			f.Schedules = append(f.Schedules, schedule)
		}
		properties.finish()
		if err := o.end(); err != nil {
			return in(f.LogicalID, err)
		}
	}
	return b.assignStatements()
}
