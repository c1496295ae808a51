package policy

import "strings"

// MostResources is the budget of the stack. CloudFormation takes 500; the rest is left for the move of a part into
// a stack of its own, whose resources for some time exist twice (ADR 51).
const MostResources = 450

// Budget finds a stack with more resources than its budget.
func Budget(s *Stack) []Finding {
	var found findings
	if n := Count(s); n > MostResources {
		found.addf("template.yaml", "becomes %d resources, more than %d", n, MostResources)
	}
	return found.sorted()
}

// Count returns how many resources CloudFormation gets of a template, with everything that is optional.
func Count(s *Stack) int {
	n, gradual := 0, 0
	for _, r := range s.Resources {
		switch r.Type {
		case kindFunction:
			n += resourcesOf(r)
			if r.Properties["DeploymentPreference"] != nil {
				gradual = 1 // CodeDeploy's application, one for all
			}
		case kindAPI:
			n += 3 // itself, a deployment and the stage
		default:
			n++
		}
	}
	return n + gradual
}

// resourcesOf counts what SAM makes of a function: itself, a version and the alias; a schedule's rule and the
// permission for it, a queue's mapping, how it is repeated, and how it is deployed. Its role and its log group are
// resources of the template.
func resourcesOf(f Resource) int {
	n := 3 + 2*len(events(f, "Schedule")) + len(events(f, "SQS"))
	for _, p := range []string{"EventInvokeConfig", "DeploymentPreference"} {
		if f.Properties[p] != nil {
			n++
		}
	}
	return n
}

// Counted finds functions of which SAM makes more or less than this package thinks, and a difference elsewhere.
func Counted(s, transformed *Stack) []Finding {
	var found findings
	for _, f := range s.of(kindFunction) {
		n := 0
		for _, r := range transformed.Resources {
			if strings.HasPrefix(r.ID, f.ID) {
				n++
			}
		}
		if want := resourcesOf(f); n != want {
			found.addf(f.ID, "becomes %d resources, not %d", n, want)
		}
	}
	if n, want := len(transformed.Resources), Count(s); n != want {
		found.addf("template.yaml", "becomes %d resources, not %d", n, want)
	}
	return found.sorted()
}
