package policy

import (
	"fmt"
	"slices"
)

// alias is the name of the alias for a function's newest version. All triggers invoke the function's alias.
const alias = "live"

// Releases reports functions that a release would not update because they lack the alias or don't get a new version
// with every release. Patient-facing functions must be deployed gradually and have reserved concurrency. Failed
// scheduled runs must not be retried, because the schedule starts another run within a minute. CodeDeploy's role may
// shift traffic only for functions that are deployed gradually.
func Releases(s *Stack, patients []string) []Finding {
	var found findings
	var shifted []string
	for _, f := range s.of(kindFunction) {
		p := f.Properties
		if scalar(p["AutoPublishAlias"]) != alias || short(p["AutoPublishCodeSha256"]) != "${Release}" {
			found.addf(f.ID,
				"a release makes no new version of it (AutoPublishAlias: %s, AutoPublishCodeSha256: !Ref Release)", alias)
		}
		gradual := short(at(p, "DeploymentPreference", "Enabled")) == "${GradualDeployment}"
		if gradual {
			shifted = append(shifted, "${"+f.ID+".Arn}:"+alias)
		}
		patient, scheduled := slices.Contains(patients, f.ID), len(events(f, "Schedule")) > 0
		if patient != gradual {
			found.addf(f.ID, "is deployed gradually: %v, called by patients' browsers: %v", gradual, patient)
		}
		if kept := slices.Contains(shorts(p["ReservedConcurrentExecutions"]), "${ReservedConcurrency}"); kept != patient {
			found.addf(f.ID, "has executions kept for it: %v, called by patients' browsers: %v", kept, patient)
		}
		once := at(p, "EventInvokeConfig")
		if scheduled && (scalar(at(once, "MaximumRetryAttempts")) != "0" ||
			scalar(at(once, "MaximumEventAgeInSeconds")) != "60" ||
			!slices.Contains(shorts(p["ReservedConcurrentExecutions"]), "1")) {
			found.addf(f.ID, "its scheduled runs pile up: they are repeated, kept, or run side by side")
		}
		s.watchesRelease(f, &found)
	}
	s.shifting(shifted, &found)
	return found.sorted()
}

// watchesRelease reports a function's rollback alarms that don't watch the errors of the function's alias.
func (s *Stack) watchesRelease(f Resource, found *findings) {
	for _, id := range references(at(f.Properties, "DeploymentPreference", "Alarms")) {
		i := slices.IndexFunc(s.of(kindAlarm), func(a Resource) bool { return a.ID == id })
		of := map[string]string{"Resource": fmt.Sprintf("${%s}:%s", f.ID, alias)}
		watched := func(one series) bool {
			return one.watches("AWS/Lambda", "Errors", "FunctionName", "${"+f.ID+"}", of)
		}
		if i < 0 || !slices.ContainsFunc(seriesOf(s.of(kindAlarm)[i]), watched) {
			found.addf(f.ID, "%s does not watch the errors of its alias", id)
		}
	}
}

// shifting reports missing and excessive permissions in CodeDeploy's roles.
func (s *Stack) shifting(functions []string, found *findings) {
	var other findings
	for _, r := range s.of(kindRole) {
		if !s.shifts(r) {
			continue
		}
		allowed := map[string][]string{}
		for _, st := range s.allowed(r, &other) {
			for _, a := range st.actions {
				allowed[a] = append(allowed[a], st.resources...)
			}
		}
		for _, a := range []string{"lambda:GetAlias", "lambda:UpdateAlias", "lambda:GetProvisionedConcurrencyConfig"} {
			if !slices.Equal(allowed[a], functions) {
				found.addf(r.ID, "may %s of %v, and has to shift %v", a, allowed[a], functions)
			}
			delete(allowed, a)
		}
		if !slices.Equal(allowed["cloudwatch:DescribeAlarms"], []string{"*"}) {
			found.addf(r.ID, "cannot look at alarms")
		}
		delete(allowed, "cloudwatch:DescribeAlarms")
		for a := range allowed {
			found.addf(r.ID, "%s has no part in shifting", a)
		}
	}
}
