package policy

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// What CloudWatch takes in one alarm.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
const maxAlarmMetrics = 10

// runbooks is the folder with a document for every alarm.
const runbooks = "docs/runbooks/"

// series is what an alarm looks at: one metric, or one expression over others.
type series struct {
	id, namespace, metric, expression string
	dimensions                        map[string]string // name to value as Fn::Sub would write it
	returned                          bool              // the alarm's threshold is about it
}

var (
	runbookName = regexp.MustCompile(`docs/runbooks/[A-Za-z0-9._-]+\.md`)
	seriesName  = regexp.MustCompile(`\b[a-z]\w*`) // functions of metric math are in capitals
)

// Alarms finds alarms that nobody is told of, that do not say what to do or what no data means, or that CloudWatch
// would refuse although CloudFormation's own checks pass them; and runbooks of no alarm.
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
		for _, list := range []string{"AlarmActions", "OKActions"} {
			if !s.tells(a.Properties[list]) {
				found.addf(a.ID, "%s names no topic of the template", list)
			}
		}
		if missing := scalar(a.Properties["TreatMissingData"]); missing != "breaching" && missing != "notBreaching" {
			found.addf(a.ID, "does not say whether missing data is breaching")
		}
		seriesOf(a).check(a.ID, &found)
	}
	t.checkRunbooks(named, &found)
	return found.sorted()
}

// checkRunbooks finds runbooks of no alarm, and those that leave open what somebody asks who is woken.
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

// tells tells whether all of an alarm's actions are topics of the template, and there is one.
func (s *Stack) tells(actions any) bool {
	ids := references(actions)
	isTopic := func(id string) bool {
		return slices.ContainsFunc(s.of(kindTopic), func(r Resource) bool { return r.ID == id })
	}
	return len(ids) > 0 && len(ids) == len(list(actions)) && !slices.ContainsFunc(ids, func(id string) bool { return !isTopic(id) })
}

// seriesList is all that one alarm looks at.
type seriesList []series

// seriesOf reads an alarm, of one metric or of a list.
func seriesOf(a Resource) seriesList {
	if a.Properties["Metrics"] == nil {
		return seriesList{{
			namespace: scalar(a.Properties["Namespace"]), metric: scalar(a.Properties["MetricName"]),
			dimensions: dimensions(a.Properties["Dimensions"]), returned: true,
		}}
	}
	var all seriesList
	for _, m := range list(a.Properties["Metrics"]) {
		metric := at(m, "MetricStat", "Metric")
		all = append(all, series{
			id: scalar(at(m, "Id")), namespace: scalar(at(metric, "Namespace")), metric: scalar(at(metric, "MetricName")),
			dimensions: dimensions(at(metric, "Dimensions")), expression: short(at(m, "Expression")),
			returned: scalar(at(m, "ReturnData")) == "true",
		})
	}
	return all
}

// dimensions reads a metric's.
func dimensions(v any) map[string]string {
	all := map[string]string{}
	for _, d := range list(v) {
		all[scalar(at(d, "Name"))] = short(at(d, "Value"))
	}
	return all
}

// check finds what CloudWatch refuses, and metrics that are read and then not looked at.
func (all seriesList) check(alarm string, found *findings) {
	metrics, returned := 0, 0
	var defined, used []string
	for _, one := range all {
		if one.metric != "" {
			metrics++
			defined = append(defined, one.id)
		}
		if one.returned {
			returned++
		}
		switch {
		case one.expression == "":
		case strings.Contains(one.expression, "SEARCH("):
			found.addf(alarm, "no alarm can be made of SEARCH")
		case strings.HasPrefix(one.expression, "SELECT"):
			found.addf(alarm, "a query of Metrics Insights looks at other stacks of the account, too")
		default:
			used = append(used, seriesName.FindAllString(one.expression, -1)...)
		}
	}
	if metrics > maxAlarmMetrics {
		found.addf(alarm, "looks at %d metrics, more than %d", metrics, maxAlarmMetrics)
	}
	if returned != 1 {
		found.addf(alarm, "its threshold is about %d series, not one (ReturnData)", returned)
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

// watches tells whether a series is, or contains, a metric of one resource: the value of a dimension. Other
// dimensions have to be those given.
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
