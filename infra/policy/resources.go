package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	// visibilityFactor is what Lambda's guide asks for between a queue's visibility and its consumer's timeout.
	// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
	visibilityFactor = 6
	// gatewaySeconds is when API Gateway gives up on a function (architecture section 1).
	gatewaySeconds = 29
)

// Queues finds queues without a dead letter queue (unless they are one), without encryption, or whose messages come
// back before their consumer can have ended; and consumers that fail a batch as a whole.
func Queues(s *Stack) []Finding {
	var found findings
	queues := s.of(kindQueue)
	dead := make([]string, 0, len(queues))
	for _, q := range queues {
		dead = append(dead, references(at(q.Properties, "RedrivePolicy", "deadLetterTargetArn"))...)
	}
	for _, q := range queues {
		if !slices.Contains(dead, q.ID) && at(q.Properties, "RedrivePolicy", "deadLetterTargetArn") == nil {
			found.addf(q.ID, "has no dead letter queue")
		}
		if scalar(q.Properties["SqsManagedSseEnabled"]) != "true" && q.Properties["KmsMasterKeyId"] == nil {
			found.addf(q.ID, "is not encrypted")
		}
	}
	for _, f := range s.of(kindFunction) {
		for _, e := range events(f, "SQS") {
			if !slices.Contains(shorts(at(e, "FunctionResponseTypes")), "ReportBatchItemFailures") {
				found.addf(f.ID, "does not report which messages of a batch failed (ReportBatchItemFailures)")
			}
			source := references(at(e, "Queue"))
			consumed := func(q Resource) bool { return slices.Contains(source, q.ID) }
			if i := slices.IndexFunc(queues, consumed); i >= 0 {
				visibility(queues[i], f, &found)
			}
		}
	}
	return found.sorted()
}

// visibility finds a queue that shows its messages again too soon for its consumer.
func visibility(queue, consumer Resource, found *findings) {
	least := visibilityFactor * seconds(consumer.Properties["Timeout"], 3)
	if got := seconds(queue.Properties["VisibilityTimeout"], 30); got < least {
		found.addf(queue.ID, "hides messages for %d s, less than %d times the timeout of %s (%d s)",
			got, visibilityFactor, consumer.ID, least)
	}
}

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
		if !slices.ContainsFunc(s.of(kindBucketPolicy), func(p Resource) bool { return denyPlain(p, b.ID) }) {
			found.addf(b.ID, "has no policy that denies plain HTTP")
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

// denyPlain tells whether a bucket policy denies everybody everything in a bucket without TLS.
func denyPlain(policy Resource, bucket string) bool {
	if short(policy.Properties["Bucket"]) != "${"+bucket+"}" {
		return false
	}
	arn := "${" + bucket + ".Arn}"
	return slices.ContainsFunc(statements(policy.Properties["PolicyDocument"]), func(st statement) bool {
		return st.effect == "Deny" && scalar(st.principal) == "*" && slices.Contains(st.actions, "s3:*") &&
			slices.Contains(st.resources, arn) && slices.Contains(st.resources, arn+"/*") &&
			scalar(at(st.condition, "Bool", "aws:SecureTransport")) == "false"
	})
}

// Tables finds tables that are not encrypted, and tables without point-in-time recovery that are not in fleeting,
// whose items live for minutes or are made up.
func Tables(s *Stack, fleeting []string) []Finding {
	var found findings
	for _, t := range s.of(kindTable) {
		if scalar(at(t.Properties, "SSESpecification", "SSEEnabled")) != "true" {
			found.addf(t.ID, "is not encrypted with a key of KMS")
		}
		recovers := scalar(at(t.Properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled")) == "true"
		if !recovers && !slices.Contains(fleeting, t.ID) {
			found.addf(t.ID, "has no point-in-time recovery")
		}
	}
	return found.sorted()
}

// Functions finds functions without logs that end, without explicit limits, or on another processor than arm64; and
// functions of the API that may run longer than API Gateway waits.
func Functions(s *Stack) []Finding {
	var found findings
	groups := map[string]Resource{}
	for _, g := range s.of(kindLogGroup) {
		groups[short(g.Properties["LogGroupName"])] = g
	}
	for _, f := range s.of(kindFunction) {
		group, ok := groups["/aws/lambda/${"+f.ID+"}"]
		switch {
		case !ok:
			found.addf(f.ID, "has no log group")
		case group.Properties["RetentionInDays"] == nil:
			found.addf(f.ID, "its log group %s keeps logs forever", group.ID)
		case group.Condition != f.Condition:
			found.addf(f.ID, "its log group %s has another condition", group.ID)
		}
		if !slices.Equal(shorts(f.Properties["Architectures"]), []string{"arm64"}) {
			found.addf(f.ID, "does not run on arm64")
		}
		for _, limit := range []string{"Timeout", "MemorySize"} {
			if f.Properties[limit] == nil {
				found.addf(f.ID, "has no %s", limit)
			}
		}
		if len(events(f, "Api")) > 0 && seconds(f.Properties["Timeout"], 3) >= gatewaySeconds {
			found.addf(f.ID, "may run for %s s, longer than API Gateway waits", scalar(f.Properties["Timeout"]))
		}
	}
	return found.sorted()
}

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
		case r.Type == "AWS::Serverless::Api":
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
