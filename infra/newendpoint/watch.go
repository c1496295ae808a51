package main

import (
	"fmt"
	"regexp"
	"strings"
)

// mostMetrics is the maximum number of metrics in a CloudWatch alarm's math expression.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Create-alarm-on-metric-math-expression.html
const mostMetrics = 10

var (
	alarms     = regexp.MustCompile(`(?m)^  (Request[0-9]*)ErrorsAlarm:$`)
	sum        = regexp.MustCompile(`Expression: SUM\(\[([a-z0-9, ]+)\]\)`)
	shares     = regexp.MustCompile(`(FILL\([a-z0-9]+, 0\) / [0-9]+)\]\)`)
	comparison = regexp.MustCompile(`(?m)^      ComparisonOperator:`)
)

// watch adds the function to the latest error, throttle and duration alarms for functions that organisations call. If
// these alarms contain the maximum number of metrics, watch creates three new alarms.
func (w *writer) watch() {
	all := alarms.FindAllStringSubmatch(w.read(stackFile), -1)
	if len(all) == 0 {
		w.failf("%s has no RequestErrorsAlarm", stackFile)
		return
	}
	last := all[len(all)-1][1]
	if strings.Count(block(w.read(stackFile), last+"ErrorsAlarm"), "MetricStat:") >= mostMetrics {
		next := fmt.Sprintf("Request%d", len(all)+1)
		w.before(stackFile, "  BrowserErrorsAlarm:\n", strings.ReplaceAll(w.part("alarms.yaml.tmpl"), "RequestN", next))
		for _, kind := range []string{"ErrorsAlarm", "ThrottlesAlarm", "DurationAlarm"} {
			w.after(stackFile, `"${`+last+kind+`.Arn}"`, `,"${`+next+kind+`.Arn}"`) // the dashboard's list of alarms
			w.after("docs/operate/alarms.md", "| `Request"+kind+"`, ", "`"+next+kind+"`, ")
		}
		return
	}
	metric := func(name, statistic string) string {
		return strings.NewReplacer("METRIC", name, "STATISTIC", statistic).Replace(w.part("metric.yaml.tmpl"))
	}
	w.extend(last+"ErrorsAlarm", sum, "Expression: SUM([$1, "+w.endpoint.Folder+"])", metric("Errors", "Sum"))
	w.extend(last+"ThrottlesAlarm", sum, "Expression: SUM([$1, "+w.endpoint.Folder+"])", metric("Throttles", "Sum"))
	w.extend(last+"DurationAlarm", shares, "$1,\n            FILL("+w.endpoint.Folder+", 0) / 10000])",
		metric("Duration", "Maximum"))
}

func (w *writer) extend(alarm string, expression *regexp.Regexp, replacement, metric string) {
	old := block(w.read(stackFile), alarm)
	if len(expression.FindAllString(old, -1)) != 1 || len(comparison.FindAllString(old, -1)) != 1 {
		w.failf("%s: the format of %s is unknown to this program", stackFile, alarm)
		return
	}
	text := expression.ReplaceAllString(old, replacement)
	w.replace(stackFile, old, comparison.ReplaceAllLiteralString(text, metric+"      ComparisonOperator:"))
}

var nextResource = regexp.MustCompile(`(?m)^  [A-Z#]`)

// block returns the text of a resource's definition in the template.
func block(template, id string) string {
	_, rest, found := strings.Cut(template, "\n  "+id+":\n")
	if !found {
		return ""
	}
	if end := nextResource.FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return "\n  " + id + ":\n" + rest
}
