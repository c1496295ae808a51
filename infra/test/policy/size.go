package policy

import (
	"cmp"
	"strings"
)

// Estimate gives an upper bound of the number of resources that SAM's transform makes of the template, and names the
// types that it cannot judge. What a type becomes:
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification-generated-resources.html
func Estimate(s *Stack) (int, []Finding) {
	const (
		perAPI        = 6 // API, deployment and stage; room for an account, a role and a domain mapping
		perFunction   = 2 // the function and its role
		perRoute      = 2 // a permission, and one more should SAM add one for testing again
		perQueue      = 1 // the event source mapping
		perSchedule   = 2 // the rule and its permission
		perPlainThing = 1
	)
	cost := map[string]int{"Api": perRoute, "SQS": perQueue, "Schedule": perSchedule}
	var found findings
	total := 0
	for _, r := range s.Resources {
		switch {
		case r.Type == kindAPI:
			total += perAPI
		case r.Type == kindFunction:
			total += perFunction
			for name, e := range fields(r.Properties["Events"]) {
				kind := scalar(at(e, "Type"))
				if cost[kind] == 0 {
					found.addf(r.ID, "cannot judge what the event %s becomes", cmp.Or(kind, name))
				}
				total += cost[kind]
			}
		case strings.HasPrefix(r.Type, "AWS::Serverless::"):
			found.addf(r.ID, "cannot judge what a %s becomes", r.Type)
		default:
			total += perPlainThing
		}
	}
	return total, found.sorted()
}

// maxResources is the size that the transformed template is held to. CloudFormation takes 500; the rest is room for
// what a deployment adds (architecture section 1).
const maxResources = 450

// Size finds out whether the transformed template may be too large.
func Size(s *Stack) []Finding {
	total, unknown := Estimate(s)
	found := findings(unknown)
	if total > maxResources {
		found.addf("template.yaml", "may become %d resources, more than %d", total, maxResources)
	}
	return found.sorted()
}
