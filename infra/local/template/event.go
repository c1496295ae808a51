package template

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	rateExpression = regexp.MustCompile(`^rate\(([1-9][0-9]*) (minute|hour|day)(s?)\)$`)
	// segment is a literal, {name} or {name+}; API Gateway takes these characters.
	segment = regexp.MustCompile(`^(?:[A-Za-z0-9._~:-]+|\{[A-Za-z0-9._-]+\+?\})$`)
)

// route reads the properties of an Api event.
func (b *builder) route(o *object) Route {
	r := Route{Method: strings.ToUpper(o.required("Method")), Path: o.required("Path")}
	if id := o.required("RestApiId"); id != b.ref(kindAPI, b.template.API.LogicalID) {
		o.failf(o.line(), "%sRestApiId %q is not the template's API", o.where, id)
	}
	if !slices.Contains([]string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions,
		"ANY",
	}, r.Method) {
		o.failf(o.line(), "%sMethod %q is not understood", o.where, r.Method)
	}
	path, absolute := strings.CutPrefix(r.Path, "/")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		greedy := strings.HasSuffix(p, "+}")
		if !absolute || !segment.MatchString(p) || greedy && i != len(parts)-1 {
			o.failf(o.line(), "%sPath %q is not a path of an API", o.where, r.Path)
			break
		}
	}
	return r
}

// routeTable finds what API Gateway refuses to deploy: a method of a path given twice, and two variables of different
// names at one place, which would make matching ambiguous.
type routeTable struct {
	functions map[Route]string
	variables map[string]string // parent path to the variable below it
}

// add takes a route in or refuses it.
func (t routeTable) add(r Route, function string, o *object) {
	if other, taken := t.functions[r]; taken {
		o.failf(o.line(), "%s %s is given twice, also by %s", r.Method, r.Path, other)
	}
	t.functions[r] = function
	parent := ""
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Path, "/"), "/") {
		if strings.HasPrefix(part, "{") {
			if other, taken := t.variables[parent]; taken && other != part {
				o.failf(o.line(), "%s: %s and %s cannot stand at the same place", r.Path, part, other)
			}
			t.variables[parent] = part
		}
		parent += "/" + part
	}
}

// queueTrigger reads the properties of an SQS event.
func (b *builder) queueTrigger(f *Function, o *object) QueueTrigger {
	t := QueueTrigger{QueueARN: o.required("Queue"), BatchSize: o.number("BatchSize", 1, 10, 10)}
	for _, kind := range o.texts("FunctionResponseTypes") {
		if kind != "ReportBatchItemFailures" {
			o.failf(o.line(), "%sFunctionResponseTypes: %q is not understood", o.where, kind)
		}
		t.PartialFailures = true
	}
	scaling := o.object("ScalingConfig")
	if scaling.node != nil {
		t.MaxConcurrency = scaling.number("MaximumConcurrency", 2, 1000, 0)
		scaling.finish()
	}
	for _, q := range b.template.Queues {
		if q.ARN != t.QueueARN {
			continue
		}
		t.QueueURL = q.URL
		if q.VisibilityTimeout < f.Timeout {
			// Lambda refuses it when the trigger is made: a message would come back while it is worked on.
			o.failf(o.line(), "the VisibilityTimeout of %s (%v) is shorter than the function's Timeout (%v)",
				q.LogicalID, q.VisibilityTimeout, f.Timeout)
		}
	}
	if t.QueueURL == "" {
		o.failf(o.line(), "%sQueue %q is not the ARN of a queue of the template", o.where, t.QueueARN)
	}
	return t
}

// rate reads the Schedule property, "rate(5 minutes)".
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
func rate(o *object) time.Duration {
	expression := o.required("Schedule")
	if strings.HasPrefix(expression, "cron(") {
		o.failf(o.line(), "%sSchedule: cron expressions are not understood, only rate(...)", o.where)
		return 0
	}
	m := rateExpression.FindStringSubmatch(expression)
	if m == nil {
		o.failf(o.line(), "%sSchedule %q is not a rate(...)", o.where, expression)
		return 0
	}
	count, err := strconv.Atoi(m[1])
	if err != nil || count > 1000 || (count == 1) != (m[3] == "") {
		o.failf(o.line(), "%sSchedule %q is not a rate(...): one minute, but more minutes", o.where, expression)
		return 0
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[m[2]]
	return time.Duration(count) * unit
}
