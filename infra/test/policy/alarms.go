package policy

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// runbooks is the folder that contains the alarms' runbooks.
const runbooks = "docs/operate/runbooks/"

// series is a metric, or an expression over metrics, that an alarm evaluates.
type series struct {
	id, namespace, metric, expression string
	dimensions                        map[string]string // dimension values by name, as Fn::Sub strings
}

var (
	runbookName = regexp.MustCompile(`docs/operate/runbooks/[A-Za-z0-9._-]+\.md`)
	seriesName  = regexp.MustCompile(`\b[a-z]\w*`) // excludes metric math functions, whose names are in upper case
)

// Alarms reports alarms without a runbook and runbooks without an alarm. It also reports metrics that an alarm uses
// without defining them, or defines without using them. cfn-guard checks all other alarm rules
// (.ci/template/rules/queues.guard).
func Alarms(s *Stack, t *Tree) []Finding {
	var found findings
	named := map[string]bool{}
	for _, a := range s.of(kindAlarm) {
		names := runbookName.FindAllString(short(a.Properties["AlarmDescription"]), -1)
		if len(names) != 1 {
			found.addf(a.ID, "its description names %d runbooks (%s….md), not one", len(names), runbooks)
		}
		for _, name := range names {
			named[name] = true
			if !t.paths[name] {
				found.addf(a.ID, "there is no runbook %s", name)
			}
		}
		seriesOf(a).check(a.ID, &found)
	}
	t.checkRunbooks(named, &found)
	return found.sorted()
}

// checkRunbooks reports runbooks that belong to no alarm or lack a required section.
func (t *Tree) checkRunbooks(named map[string]bool, found *findings) {
	for name := range t.paths {
		if !strings.HasPrefix(name, runbooks) {
			continue
		}
		if !named[name] {
			found.addf(name, "is the runbook of no alarm")
		}
		for _, section := range []string{"What it means", "How to look", "What to do", "Whom to wake", "Over when"} {
			if !bytes.Contains(t.Text(name), []byte("\n## "+section+"\n")) {
				found.addf(name, "does not say %q", section)
			}
		}
	}
}

type seriesList []series

// seriesOf parses an alarm that has either a single metric or a list of metrics.
func seriesOf(a Resource) seriesList {
	if a.Properties["Metrics"] == nil {
		return seriesList{{
			namespace: scalar(a.Properties["Namespace"]), metric: scalar(a.Properties["MetricName"]),
			dimensions: dimensions(a.Properties["Dimensions"]),
		}}
	}
	var all seriesList
	for _, m := range list(a.Properties["Metrics"]) {
		metric := at(m, "MetricStat", "Metric")
		all = append(all, series{
			id: scalar(at(m, "Id")), namespace: scalar(at(metric, "Namespace")), metric: scalar(at(metric, "MetricName")),
			dimensions: dimensions(at(metric, "Dimensions")), expression: short(at(m, "Expression")),
		})
	}
	return all
}

func dimensions(v any) map[string]string {
	all := map[string]string{}
	for _, d := range list(v) {
		all[scalar(at(d, "Name"))] = short(at(d, "Value"))
	}
	return all
}

// check reports metrics that no expression uses, and expressions that use undefined metrics.
func (all seriesList) check(alarm string, found *findings) {
	defined, used := make([]string, 0, len(all)), make([]string, 0, len(all))
	for _, one := range all {
		if one.metric != "" {
			defined = append(defined, one.id)
		}
		used = append(used, seriesName.FindAllString(one.expression, -1)...)
	}
	if len(all) == 1 {
		return
	}
	for _, id := range defined {
		if !slices.Contains(used, id) {
			found.addf(alarm, "no expression uses %s", id)
		}
	}
	for _, id := range used {
		if !slices.Contains(defined, id) {
			found.addf(alarm, "an expression uses %s, which is no metric of the alarm", id)
		}
	}
}

// watches reports whether a series is a metric of the given resource. The value of dimension identifies the resource.
// All other dimensions must equal those in others.
func (one series) watches(namespace, metric, dimension, value string, others map[string]string) bool {
	if one.namespace != namespace || one.metric != metric || one.dimensions[dimension] != value {
		return false
	}
	for name, want := range others {
		if one.dimensions[name] != want {
			return false
		}
	}
	return len(one.dimensions) == 1+len(others)
}
