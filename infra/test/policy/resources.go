package policy

import (
	"slices"
	"strconv"
)

// gatewaySeconds is when API Gateway gives up on a function.
const gatewaySeconds = 29

// events lists the properties of a function's events of one type.
func events(f Resource, kind string) []any {
	var all []any
	for _, e := range fields(f.Properties["Events"]) {
		if scalar(at(e, "Type")) == kind {
			all = append(all, at(e, "Properties"))
		}
	}
	return all
}

// seconds reads a number, or gives what AWS takes when there is none.
func seconds(v any, unset int) int {
	n, err := strconv.Atoi(scalar(v))
	if err != nil {
		return unset
	}
	return n
}

// Buckets finds buckets that are public, not encrypted, without a lifecycle or open to plain HTTP.
func Buckets(s *Stack) []Finding {
	var found findings
	for _, b := range s.of(kindBucket) {
		for _, block := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
			if scalar(at(b.Properties, "PublicAccessBlockConfiguration", block)) != "true" {
				found.addf(b.ID, "may be public: %s is not true", block)
			}
		}
		if !encrypted(b) {
			found.addf(b.ID, "is not encrypted")
		}
		active := func(rule any) bool { return scalar(at(rule, "Status")) == "Enabled" }
		if !slices.ContainsFunc(list(at(b.Properties, "LifecycleConfiguration", "Rules")), active) {
			found.addf(b.ID, "has no lifecycle rule that is enabled")
		}
		ref := "${" + b.ID + "}"
		arn := "${" + b.ID + ".Arn}"
		closed := func(p Resource) bool {
			return short(p.Properties["Bucket"]) == ref && deniesPlain(p.Properties["PolicyDocument"], "s3:*", arn, arn+"/*")
		}
		if !slices.ContainsFunc(s.of(kindBucketPolicy), closed) {
			found.addf(b.ID, "has no policy that denies plain HTTP")
		}
		owned := func(rule any) bool { return scalar(at(rule, "ObjectOwnership")) == "BucketOwnerEnforced" }
		if !slices.ContainsFunc(list(at(b.Properties, "OwnershipControls", "Rules")), owned) {
			found.addf(b.ID, "may have objects that others own: its access lists are not switched off")
		}
	}
	return found.sorted()
}

// encrypted tells whether a bucket names the encryption of its objects.
func encrypted(b Resource) bool {
	named := func(rule any) bool {
		return scalar(at(rule, "ServerSideEncryptionByDefault", "SSEAlgorithm")) != ""
	}
	return slices.ContainsFunc(list(at(b.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration")), named)
}

// deniesPlain tells whether a policy denies everybody an action on all of some resources without TLS.
func deniesPlain(document any, action string, resources ...string) bool {
	return slices.ContainsFunc(statements(document), func(st statement) bool {
		open := func(r string) bool { return !slices.Contains(st.resources, r) }
		return st.effect == "Deny" && scalar(st.principal) == "*" && slices.Contains(st.actions, action) &&
			!slices.ContainsFunc(resources, open) && scalar(at(st.condition, "Bool", "aws:SecureTransport")) == "false"
	})
}

// Functions finds functions without logs that end, without explicit limits, or on a processor of their own; and
// functions of the API that may run longer than API Gateway waits.
func Functions(s *Stack) []Finding {
	var found findings
	groups := map[string]Resource{}
	for _, g := range s.of(kindLogGroup) {
		groups["${"+g.ID+"}"] = g
	}
	users := map[string]int{}
	for _, f := range s.of(kindFunction) {
		group, ok := groups[short(at(f.Properties, "LoggingConfig", "LogGroup"))]
		users[group.ID]++
		switch {
		case !ok:
			found.addf(f.ID, "has no log group of the template")
		case users[group.ID] > 1:
			found.addf(f.ID, "its log group %s is also another function's", group.ID)
		case group.Properties["RetentionInDays"] == nil:
			found.addf(f.ID, "its log group %s keeps logs forever", group.ID)
		case group.Condition != f.Condition:
			found.addf(f.ID, "its log group %s has another condition", group.ID)
		}
		if !slices.Equal(shorts(f.Properties["Architectures"]), []string{"${Architecture}"}) {
			found.addf(f.ID, "does not run on the processor of the deployment (Architecture)")
		}
		for _, limit := range []string{"Timeout", "MemorySize"} {
			if f.Properties[limit] == nil {
				found.addf(f.ID, "has no %s", limit)
			}
		}
		if s.isRouted(f) && seconds(f.Properties["Timeout"], 3) >= gatewaySeconds {
			found.addf(f.ID, "may run for %s s, longer than API Gateway waits", scalar(f.Properties["Timeout"]))
		}
	}
	return found.sorted()
}
