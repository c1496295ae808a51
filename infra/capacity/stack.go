package main

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"recordbridge/infra/local/template"
)

// stack is the template: what the laptop understands of it, and what it leaves to AWS.
type stack struct {
	*template.Template

	rate         float64 // requests a second that the API lets through
	alarmMetrics float64 // that alarms look at
	metrics      float64 // of our own, made of log lines
	dashboards   float64
	logDays      float64
	fileDays     float64 // that export files are kept
}

// document is the template as far as package template leaves it to AWS.
type document struct {
	Parameters map[string]parameter `yaml:"Parameters"`
	Resources  map[string]resource  `yaml:"Resources"`
}

type parameter struct {
	Default string `yaml:"Default"`
}

type resource struct {
	Type       string               `yaml:"Type"`
	Condition  string               `yaml:"Condition"`
	Properties map[string]yaml.Node `yaml:"Properties"`
}

// deployment is a template with the parameters of an environment, the defaults for those that are not given.
type deployment struct {
	file       string
	parameters map[string]string
}

// readParameters reads parameters as samconfig.toml has them: "Name=Value Name=Value".
func readParameters(text string) (map[string]string, error) {
	parameters := map[string]string{}
	for pair := range strings.FieldsSeq(text) {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("read the parameters: %q is not Name=Value", pair)
		}
		parameters[name] = value
	}
	return parameters, nil
}

// readStack reads what is deployed. Alarms and the like that exist only on a condition are left out.
func readStack(from deployment) (*stack, error) {
	loaded, err := template.Load(from.file, template.Options{Parameters: from.parameters, BaseURL: "http://127.0.0.1:4566", StackName: "recordbridge"})
	if err != nil {
		return nil, fmt.Errorf("read the stack: %w", err)
	}
	text, err := os.ReadFile(from.file)
	if err != nil {
		return nil, fmt.Errorf("read the stack: %w", err)
	}
	var d document
	if err = yaml.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read the stack: %w", err)
	}
	for name, value := range from.parameters {
		d.Parameters[name] = parameter{Default: value}
	}
	s := &stack{Template: loaded}
	s.logDays = d.number(yaml.Node{Tag: "!Ref", Value: "LogRetentionDays"})
	retention, err := time.ParseDuration(d.Parameters["ExportRetention"].Default)
	if err != nil {
		return nil, fmt.Errorf("read the stack: ExportRetention: %w", err)
	}
	s.fileDays = retention.Hours() / 24
	for _, r := range d.Resources {
		if r.Condition == "" {
			s.note(r, d)
		}
	}
	return s, nil
}

// note takes what is needed of one resource.
func (s *stack) note(r resource, d document) {
	switch r.Type {
	case "AWS::Serverless::Api":
		settings := r.Properties["MethodSettings"]
		for _, setting := range settings.Content {
			var throttle struct {
				Rate yaml.Node `yaml:"ThrottlingRateLimit"`
			}
			if setting.Decode(&throttle) == nil {
				s.rate = max(s.rate, d.number(throttle.Rate))
			}
		}
	case "AWS::CloudWatch::Alarm":
		s.alarmMetrics += float64(max(1, count(r.Properties["Metrics"], "MetricStat")))
	case "AWS::CloudWatch::Dashboard":
		s.dashboards++
	case "AWS::Logs::MetricFilter":
		s.metrics++
	}
}

// number reads a number that stands there or is a parameter; 0 for everything else.
func (d document) number(n yaml.Node) float64 {
	text := n.Value
	if n.Tag == "!Ref" {
		text = d.Parameters[n.Value].Default
	}
	value, err := strconv.ParseFloat(cmp.Or(text, "0"), 64)
	if err != nil {
		return 0
	}
	return value
}

// count counts the keys of a name in a node and what is in it.
func count(n yaml.Node, key string) int {
	found := 0
	for _, inner := range n.Content {
		if inner.Value == key {
			found++
		}
		found += count(*inner, key)
	}
	return found
}

// function is a function by its folder.
func (s *stack) function(folder string) (template.Function, bool) {
	for _, f := range s.Functions {
		if f.Folder == folder {
			return f, true
		}
	}
	return template.Function{}, false
}
