package policy

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/local/template"
)

// figure is a number in a document that the template determines.
type figure struct {
	document string
	pattern  string // regular expression whose only group is the number
	want     string
}

const (
	alarmMetricPrice = 10  // in cents per month and metric of an alarm (Amazon CloudWatch pricing)
	dashboardPrice   = 300 // in cents per month
	keyPrice         = 100 // in cents per month (AWS KMS pricing)
	secretPrice      = 40  // in cents per month (AWS Secrets Manager pricing)
)

// Figures reports numbers in documents that differ from the template. functions are the template's functions with
// reserved concurrency reserved, the value of an environment's ReservedConcurrency parameter.
func Figures(t *Tree, s *Stack, functions []template.Function, reserved int) []Finding {
	var found findings
	for _, f := range append(s.figures(), concurrency(functions, reserved)...) {
		text := string(t.Text(f.document))
		matches := regexp.MustCompile(f.pattern).FindAllStringSubmatch(text, -1)
		if matches == nil {
			found.addf(f.document, "states no figure like %q, which is %s by the template", f.pattern, f.want)
		}
		for _, m := range matches {
			if m[1] != f.want {
				found.addf(f.document, "%q: by the template, %s", m[0], f.want)
			}
		}
	}
	return found.sorted()
}

// concurrency returns the figures about concurrent executions.
func concurrency(functions []template.Function, reserved int) []figure {
	const document, unreserved = "docs/operate/first-deployment.md", 100
	perFunction, fixed, workers := 0, 0, 0
	for _, f := range functions {
		if f.Reserved == reserved {
			perFunction++
		} else {
			fixed += f.Reserved
		}
		for _, queue := range f.QueueTriggers {
			workers += queue.MaxConcurrency
		}
	}
	return []figure{
		{document, `(\d+) N \+`, strconv.Itoa(perFunction)},
		{document, `\d N \+ (\d+)`, strconv.Itoa(fixed + unreserved)},
		{document, `(\d+) for .prod.`, strconv.Itoa(perFunction*reserved + fixed + unreserved)},
		{document, `(\d+) with the default values`, strconv.Itoa(workers)},
	}
}

// figures returns the figures about retention, limits, roles and fixed costs.
func (s *Stack) figures() []figure {
	const (
		retention = "docs/operate/retention.md"
		scaling   = "docs/operate/scaling.md"
		throttles = "docs/operate/runbooks/function-throttles.md"
	)
	logs, exports := s.Defaults["LogRetentionDays"], s.Defaults["ExportConcurrency"]
	tokens, others := s.recovery("TokensTable"), s.recovery("ConnectionTable")
	files := days(s.Defaults["ExportRetention"])
	secrets := dollars(secretPrice * s.deployed("AWS::SecretsManager::Secret"))
	return []figure{
		{"docs/operate/incidents.md", `Only the (\w+) function roles`, inWords(s.tagged("recordbridge-tokens"))},
		{"docs/operate/incidents.md", `the last (\d+) days \(Tokens`, others},
		{"docs/operate/incidents.md", `days \(Tokens: (\d+)\)`, tokens},
		{"docs/operate/hipaa.md", `recovery for (\d+) days`, others},
		{"docs/operate/hipaa.md", `days \(Tokens: (\d+)\)`, tokens},
		{"docs/operate/organisations.md", `backups of Connection and Work [^|]*\| (\d+) days`, others},
		{"docs/develop/threat-model.md", `encrypted for (\d+)\s+days`, tokens},
		{retention, `\| backups of Tokens \| (\d+) days`, tokens},
		{retention, `\| backups of Control[^|]*\| (\d+) days`, others},
		{retention, `\| functions' logs \| (\d+) days`, logs},
		{retention, `\| export files \| (\d+) days`, files},
		{"SECURITY.md", `deleted (?:\(after|after) (\d+) days`, files},
		{retention, `\| messages \| (\d+) days`, s.kept("ExportQueue")},
		{retention, `\| dead letters \| (\d+) days`, s.kept("ExportDeadLetterQueue")},
		{throttles, `each limited to (\d+) concurrent`, exports},
		{throttles, `refreshes to (\d+)`, s.Defaults["RefreshConcurrency"]},
		{scaling, `\| (\d+) concurrent exports`, exports},
		{scaling, `\| (\d+) concurrent refreshes`, s.Defaults["RefreshConcurrency"]},
		{scaling, `\| (\d+) requests a minute`, s.Defaults["KeyedRequestsPerMinute"]},
		{scaling, `CloudWatch alarms and dashboards \| ([\d.]+)`, dollars(s.watching())},
		{scaling, `KMS keys and requests \| ([\d.]+)`, dollars(keyPrice * s.deployed(kindKey))},
		{scaling, `Secrets Manager, SES, X-Ray \| ([\d.]+)`, secrets},
		{"CONTRIBUTING.md", `budget of (\d+) resources`, strconv.Itoa(MostResources)},
	}
}

// watching returns the monthly cost of alarms and dashboards in cents.
func (s *Stack) watching() int {
	cents := dashboardPrice * s.deployed(kindDashboard)
	for _, alarm := range s.of(kindAlarm) {
		if alarm.Condition == "WithSandbox" {
			continue
		}
		metrics := 0
		for _, m := range list(alarm.Properties["Metrics"]) {
			if at(m, "MetricStat") != nil {
				metrics++
			}
		}
		cents += alarmMetricPrice * max(metrics, 1)
	}
	return cents
}

// deployed returns the number of resources of a type in a stack without the sandbox, with one pair of client keys and
// one manifest key.
func (s *Stack) deployed(kind string) int {
	n := 0
	for _, r := range s.of(kind) {
		if r.Condition != "WithSandbox" && r.Condition != "HasClientKey2" && r.Condition != "HasManifestKey2" {
			n++
		}
	}
	return n
}

func (s *Stack) byID(id string) Resource {
	for _, r := range s.Resources {
		if r.ID == id {
			return r
		}
	}
	return Resource{}
}

// recovery returns the number of days for which a table can be restored. The default is 35 (Amazon DynamoDB API
// Reference, PointInTimeRecoverySpecification).
func (s *Stack) recovery(table string) string {
	set := at(s.byID(table).Properties["PointInTimeRecoverySpecification"], "RecoveryPeriodInDays")
	if set == nil {
		return "35"
	}
	return scalar(set)
}

// kept returns the number of days for which a queue keeps messages. The default is 4 (Amazon SQS API Reference,
// MessageRetentionPeriod).
func (s *Stack) kept(queue string) string {
	const day = 24 * 60 * 60
	return strconv.Itoa(seconds(s.byID(queue).Properties["MessageRetentionPeriod"], 4*day) / day)
}

// tagged returns the number of roles with a tag.
func (s *Stack) tagged(tag string) int {
	n := 0
	for _, r := range s.of(kindRole) {
		for _, t := range list(r.Properties["Tags"]) {
			if scalar(at(t, "Key")) == tag {
				n++
			}
		}
	}
	return n
}

// days returns a duration such as 192h in whole days.
func days(duration string) string {
	d, err := time.ParseDuration(duration)
	if err != nil {
		return duration
	}
	return strconv.Itoa(int(d / (24 * time.Hour)))
}

func dollars(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// inWords returns a number as documents write it: numbers up to ten are words.
func inWords(n int) string {
	names := strings.Fields("zero one two three four five six seven eight nine ten")
	if n < len(names) {
		return names[n]
	}
	return strconv.Itoa(n)
}
