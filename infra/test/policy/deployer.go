package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxManagedPolicy is IAM's limit on a managed policy's characters, not counting white space.
const maxManagedPolicy = 6144

// deployments returns the IAM actions with which CloudFormation creates, reads, updates and deletes a type of resource.
// The actions are those of the properties that the template sets.
func deployments() map[string]string {
	all := deploymentsOfFunctions()
	maps.Copy(all, deploymentsOfData())
	return all
}

// deploymentsOfFunctions is the part of deployments for functions, their roles and the API.
func deploymentsOfFunctions() map[string]string {
	return map[string]string{
		"AWS::ApiGateway::BasePathMapping": each("apigateway", "GET POST PATCH DELETE"),
		"AWS::ApiGateway::Deployment":      each("apigateway", "GET POST PATCH DELETE"),
		"AWS::ApiGateway::DomainName":      each("apigateway", "GET POST PATCH DELETE"),
		"AWS::ApiGateway::RestApi":         each("apigateway", "GET POST PUT PATCH DELETE"),
		"AWS::ApiGateway::Stage":           each("apigateway", "GET POST PUT PATCH DELETE"),
		"AWS::CloudFront::Distribution": each("cloudfront", "CreateDistribution GetDistribution GetDistributionConfig "+
			"UpdateDistribution DeleteDistribution ListTagsForResource TagResource UntagResource"),
		"AWS::CodeDeploy::Application": each("codedeploy", "CreateApplication GetApplication UpdateApplication "+
			"DeleteApplication ListTagsForResource TagResource UntagResource"),
		"AWS::CodeDeploy::DeploymentGroup": each("codedeploy", "CreateDeploymentGroup GetDeploymentGroup "+
			"UpdateDeploymentGroup DeleteDeploymentGroup CreateDeployment GetDeployment GetDeploymentConfig "+
			"RegisterApplicationRevision StopDeployment") + " iam:PassRole",
		"AWS::Events::Rule": each("events", "PutRule DescribeRule DeleteRule PutTargets RemoveTargets ListTargetsByRule "+
			"TagResource UntagResource"),
		kindRole: each("iam", "CreateRole GetRole UpdateRole UpdateRoleDescription UpdateAssumeRolePolicy DeleteRole "+
			"PutRolePolicy GetRolePolicy DeleteRolePolicy ListRolePolicies ListAttachedRolePolicies TagRole UntagRole"),
		"AWS::Lambda::Alias": each("lambda", "CreateAlias GetAlias UpdateAlias DeleteAlias"),
		"AWS::Lambda::EventInvokeConfig": each("lambda", "PutFunctionEventInvokeConfig GetFunctionEventInvokeConfig "+
			"UpdateFunctionEventInvokeConfig DeleteFunctionEventInvokeConfig"),
		"AWS::Lambda::EventSourceMapping": each("lambda", "CreateEventSourceMapping GetEventSourceMapping "+
			"UpdateEventSourceMapping DeleteEventSourceMapping"),
		"AWS::Lambda::Function": each("lambda", "CreateFunction GetFunction GetFunctionCodeSigningConfig "+
			"GetFunctionRecursionConfig GetRuntimeManagementConfig UpdateFunctionCode UpdateFunctionConfiguration "+
			"DeleteFunction PutFunctionConcurrency DeleteFunctionConcurrency ListTags TagResource UntagResource") +
			" iam:PassRole s3:GetObject",
		kindPermission: each("lambda", "AddPermission GetPolicy RemovePermission"),
		"AWS::Lambda::Version": each("lambda", "PublishVersion GetFunctionConfiguration ListVersionsByFunction "+
			"DeleteFunction"),
		"AWS::WAFv2::LoggingConfiguration": each("wafv2", "PutLoggingConfiguration GetLoggingConfiguration "+
			"DeleteLoggingConfiguration") + " iam:CreateServiceLinkedRole " +
			each("logs", "CreateLogDelivery DeleteLogDelivery PutResourcePolicy DescribeResourcePolicies"),
		"AWS::WAFv2::WebACL": each("wafv2", "CreateWebACL GetWebACL UpdateWebACL DeleteWebACL ListTagsForResource "+
			"TagResource UntagResource"),
		"AWS::WAFv2::WebACLAssociation": each("wafv2", "AssociateWebACL GetWebACLForResource DisassociateWebACL") +
			" apigateway:SetWebACL",
	}
}

// deploymentsOfData is the part of deployments for stored data, keys and monitoring.
func deploymentsOfData() map[string]string {
	return map[string]string{
		kindAlarm: each("cloudwatch", "PutMetricAlarm DescribeAlarms DeleteAlarms ListTagsForResource TagResource "+
			"UntagResource"),
		kindDashboard: each("cloudwatch", "PutDashboard GetDashboard DeleteDashboards"),
		kindTable: each("dynamodb", "CreateTable DescribeTable UpdateTable DeleteTable DescribeTimeToLive "+
			"UpdateTimeToLive DescribeContinuousBackups UpdateContinuousBackups DescribeContributorInsights "+
			"DescribeKinesisStreamingDestination GetResourcePolicy ListTagsOfResource TagResource UntagResource"),
		kindKey: each("kms", "CreateKey DescribeKey EnableKey DisableKey EnableKeyRotation DisableKeyRotation "+
			"GetKeyRotationStatus GetKeyPolicy PutKeyPolicy UpdateKeyDescription ScheduleKeyDeletion ListResourceTags "+
			"TagResource UntagResource"),
		"AWS::Logs::LogGroup": each("logs", "CreateLogGroup DescribeLogGroups DeleteLogGroup PutRetentionPolicy "+
			"DeleteRetentionPolicy AssociateKmsKey DisassociateKmsKey PutDataProtectionPolicy GetDataProtectionPolicy "+
			"DeleteDataProtectionPolicy ListTagsForResource TagResource UntagResource"),
		"AWS::Logs::MetricFilter": each("logs", "PutMetricFilter DescribeMetricFilters DeleteMetricFilter"),
		kindBucket: each("s3", "CreateBucket ListBucket DeleteBucket PutEncryptionConfiguration "+
			"PutBucketPublicAccessBlock PutBucketOwnershipControls PutLifecycleConfiguration PutBucketVersioning "+
			"PutBucketLogging PutBucketTagging"),
		"AWS::S3::BucketPolicy": each("s3", "PutBucketPolicy GetBucketPolicy DeleteBucketPolicy"),
		"AWS::SNS::Subscription": each("sns", "Subscribe GetSubscriptionAttributes SetSubscriptionAttributes "+
			"ListSubscriptionsByTopic Unsubscribe"),
		"AWS::SNS::Topic": each("sns", "CreateTopic GetTopicAttributes SetTopicAttributes DeleteTopic "+
			"ListTagsForResource TagResource UntagResource"),
		"AWS::SNS::TopicPolicy": "sns:SetTopicAttributes",
		kindQueue: each("sqs", "CreateQueue GetQueueAttributes GetQueueUrl SetQueueAttributes DeleteQueue "+
			"ListQueueTags TagQueue UntagQueue"),
		"AWS::SQS::QueuePolicy": "sqs:SetQueueAttributes",
		kindParameter: each("ssm", "PutParameter GetParameters DeleteParameter ListTagsForResource AddTagsToResource "+
			"RemoveTagsFromResource"),
		"AWS::SecretsManager::Secret": each("secretsmanager", "CreateSecret DescribeSecret UpdateSecret DeleteSecret "+
			"GetRandomPassword TagResource UntagResource"),
	}
}

// tooling returns the further actions of make deploy, the SAM CLI and ctl preflight.
func tooling() []string {
	return strings.Fields(each("cloudformation", "CancelUpdateStack ContinueUpdateRollback CreateChangeSet "+
		"DeleteChangeSet DeleteStack DescribeChangeSet DescribeStackEvents DescribeStackResource DescribeStackResources "+
		"DescribeStacks ExecuteChangeSet GetTemplate GetTemplateSummary ListStackResources UpdateTerminationProtection") +
		" " + each("s3", "GetBucketLocation GetBucketPublicAccessBlock GetBucketTagging GetBucketVersioning "+
		"GetEncryptionConfiguration GetLifecycleConfiguration GetObject PutObject") +
		" acm:DescribeCertificate lambda:GetAccountSettings lambda:ListAliases " +
		"ses:GetIdentityVerificationAttributes ses:GetSendQuota " +
		each("cloudtrail", "DescribeTrails GetEventSelectors GetTrailStatus"))
}

// each prefixes every action with its service.
func each(service, actions string) string {
	return service + ":" + strings.Join(strings.Fields(actions), " "+service+":")
}

// generated maps a SAM resource to the types that SAM generates from it. Which of them a function needs depends on its
// events, but a deployer needs permission for all of them.
func generated() map[string][]string {
	return map[string][]string{
		kindFunction: {
			"AWS::Lambda::Function", "AWS::Lambda::Version", "AWS::Lambda::Alias", "AWS::Lambda::EventSourceMapping",
			"AWS::Lambda::EventInvokeConfig", kindPermission, "AWS::Events::Rule", "AWS::CodeDeploy::Application",
			"AWS::CodeDeploy::DeploymentGroup",
		},
		kindAPI: {"AWS::ApiGateway::RestApi", "AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage"},
	}
}

// types returns the types of the stack's resources after SAM's transform.
func (s *Stack) types() []string {
	var all []string
	for _, r := range s.Resources {
		if made := generated()[r.Type]; made != nil {
			all = append(all, made...)
		} else {
			all = append(all, r.Type)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Identity is an identity-based IAM policy.
type Identity struct {
	Version   string
	Statement []struct {
		Sid, Effect      string
		Action, Resource []string
		Condition        map[string]map[string]any
	}
}

// ParseIdentity parses an IAM policy. It returns an error if the policy is longer than IAM accepts, denies something,
// or contains a wildcard action.
func ParseIdentity(text []byte) (Identity, error) {
	var p Identity
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, fmt.Errorf("read the policy: %w", err)
	}
	if n := len(strings.Join(strings.Fields(string(text)), "")); n > maxManagedPolicy {
		return p, fmt.Errorf("the policy has %d characters, more than %d", n, maxManagedPolicy)
	}
	for _, st := range p.Statement {
		if st.Effect != "Allow" || slices.ContainsFunc(st.Action, func(a string) bool { return strings.Contains(a, "*") }) {
			return p, fmt.Errorf("statement %s has the effect %s and the actions %v", st.Sid, st.Effect, st.Action)
		}
	}
	return p, nil
}

// Actions returns the actions that the policies allow.
func Actions(policies ...Identity) []string {
	var all []string
	for _, p := range policies {
		for _, st := range p.Statement {
			all = append(all, st.Action...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Deployer reports actions that the stack's deployment needs and the policies don't allow, and allowed actions that no
// deployment needs.
func Deployer(s *Stack, policies ...Identity) []Finding {
	const where = "infra/deploy/policies"
	found := s.secretsOf(policies...)
	allowed := Actions(policies...)
	for _, kind := range s.types() {
		needed, known := deployments()[kind]
		if !known {
			found.addf(where, "%s: add its actions to deployments, and to the deployer's policies", kind)
		}
		for action := range strings.FieldsSeq(needed) {
			if !slices.Contains(allowed, action) {
				found.addf(where, "%s needs %s", kind, action)
			}
		}
	}
	useful := tooling()
	for _, needed := range deployments() {
		useful = append(useful, strings.Fields(needed)...)
	}
	for _, action := range allowed {
		if !slices.Contains(useful, action) {
			found.addf(where, "no deployment needs %s", action)
		}
	}
	return found.sorted()
}

// secretsOf reports differences between the template's secrets and those in the policies. CloudFormation names a secret
// after its logical ID, without the stack's name.
func (s *Stack) secretsOf(policies ...Identity) findings {
	var found findings
	named := regexp.MustCompile(`:secret:(\w+)-\*$`)
	listed := map[string]bool{}
	for _, p := range policies {
		for _, st := range p.Statement {
			for _, resource := range st.Resource {
				if m := named.FindStringSubmatch(resource); m != nil {
					listed[m[1]] = true
				}
			}
		}
	}
	want := map[string]bool{}
	for _, r := range s.of("AWS::SecretsManager::Secret") {
		want[r.ID] = true
	}
	if got := slices.Sorted(maps.Keys(listed)); !maps.Equal(listed, want) {
		found.addf("infra/deploy/policies", "the policies name the secrets %v, the template %v", got,
			slices.Sorted(maps.Keys(want)))
	}
	return found
}

var (
	// enumeration matches an action followed by further actions of the same service, such as `sqs:A`, `B` and `C`.
	enumeration = regexp.MustCompile("`([a-z0-9]+):[A-Z]\\w+`(?:(?:,|,? and)\\s+`[A-Z]\\w+`)*")
	enumerated  = regexp.MustCompile("(\\w+)`")
)

// Documented reports differences between the actions that a section of a document lists and those that a policy allows.
// The section writes an action as `service:Action`, and further actions of the same service as `Action`.
func Documented(document, heading string, text []byte, p Identity) []Finding {
	var found findings
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, m := range enumeration.FindAllStringSubmatch(section, -1) {
		for _, name := range enumerated.FindAllStringSubmatch(m[0], -1) {
			listed = append(listed, m[1]+":"+name[1])
		}
	}
	allowed := Actions(p)
	for _, action := range listed {
		if !slices.Contains(allowed, action) {
			found.addf(document, "%s is not in the policy", action)
		}
	}
	for _, action := range allowed {
		if !slices.Contains(listed, action) {
			found.addf(document, "doesn't list %s, which the policy allows", action)
		}
	}
	return found.sorted()
}
