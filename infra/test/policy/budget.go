package policy

import "strings"

// MostResources is the maximum number of resources in the stack. CloudFormation allows at most 500 resources in a
// stack. The margin leaves space to move part of the stack to a separate stack, because its resources exist twice
// during the move (ADR 51).
const MostResources = 450

// Budget reports a stack that has more than MostResources resources.
func Budget(s *Stack) []Finding {
	var found findings
	if n := Count(s); n > MostResources {
		found.addf("template.yaml", "becomes %d resources, more than %d", n, MostResources)
	}
	return found.sorted()
}

// Count returns the number of CloudFormation resources that a template creates, including all optional resources.
func Count(s *Stack) int {
	n, gradual := 0, 0
	for _, r := range s.Resources {
		switch r.Type {
		case kindFunction:
			n += resourcesOf(r)
			if r.Properties["DeploymentPreference"] != nil {
				gradual = 1 // one for the CodeDeploy application, which all functions share
			}
		case kindAPI:
			n += 3 // counts the API, its deployment and its stage
		default:
			n++
		}
	}
	return n + gradual
}

// resourcesOf counts the resources that SAM generates for a function: the function itself, a version, the alias, a
// schedule's rule with its permission, a queue's event source mapping, a retry configuration and a deployment group.
// The function's role and log group are not generated, because the template defines them.
func resourcesOf(f Resource) int {
	n := 3 + 2*len(events(f, "Schedule")) + len(events(f, "SQS"))
	for _, p := range []string{"EventInvokeConfig", "DeploymentPreference"} {
		if f.Properties[p] != nil {
			n++
		}
	}
	return n
}

// Counted reports functions for which the number returned by resourcesOf differs from the number of resources that SAM
// generates. It also reports a difference in the total number of resources.
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
