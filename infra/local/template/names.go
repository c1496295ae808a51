package template

import "strings"

// Supported resource types.
const (
	kindAPI          = "AWS::Serverless::Api"
	kindFunction     = "AWS::Serverless::Function"
	kindTransformed  = "AWS::Lambda::Function" // type to which SAM converts a function
	kindTable        = "AWS::DynamoDB::Table"
	kindQueue        = "AWS::SQS::Queue"
	kindBucket       = "AWS::S3::Bucket"
	kindBucketPolicy = "AWS::S3::BucketPolicy"
	kindKey          = "AWS::KMS::Key"
	kindSecret       = "AWS::SecretsManager::Secret" // #nosec G101 -- the name of a resource type, not a credential
	kindParameter    = "AWS::SSM::Parameter"
	kindLogGroup     = "AWS::Logs::LogGroup"
	kindRole         = "AWS::IAM::Role"
	kindQueuePolicy  = "AWS::SQS::QueuePolicy"
	kindDomain       = "AWS::ApiGateway::DomainName"
	kindDomainPath   = "AWS::ApiGateway::BasePathMapping"
	kindFirewall     = "AWS::WAFv2::WebACL"
	kindFirewallOf   = "AWS::WAFv2::WebACLAssociation"
	kindFirewallLog  = "AWS::WAFv2::LoggingConfiguration"
	kindDistribution = "AWS::CloudFront::Distribution"
	kindDashboard    = "AWS::CloudWatch::Dashboard"
	kindAlarm        = "AWS::CloudWatch::Alarm"
	kindTopic        = "AWS::SNS::Topic"
	kindTopicPolicy  = "AWS::SNS::TopicPolicy"
	kindSubscription = "AWS::SNS::Subscription"
)

func understoodType(kind string) bool {
	switch kind {
	case kindAPI, kindFunction, kindTable, kindQueue, kindBucket, kindBucketPolicy, kindKey, kindSecret, kindParameter,
		kindLogGroup, kindRole, kindQueuePolicy, kindDomain, kindDomainPath, kindFirewall, kindFirewallOf,
		kindFirewallLog, kindDistribution, kindDashboard, kindAlarm, kindTopic, kindTopicPolicy, kindSubscription:
		return true
	}
	return false
}

// Physical names depend only on the stack name and the logical ID, so a restarted runner finds the previous run's data.
// The template can set a different physical name for a resource. On AWS, CloudFormation appends random characters to
// names.

// name returns the physical name of most resources.
func (r *resolver) name(id string) string { return r.stack + "-" + id }

func arn(service, resource string) string {
	return "arn:aws:" + service + ":" + region + ":" + account + ":" + resource
}

// reference returns the value of Ref for a resource, as documented under "Return values" on each type's CloudFormation
// page.
func (r *resolver) reference(kind, id string) (string, bool) {
	switch kind {
	case kindTable, kindFunction, kindTransformed, kindAlarm:
		return r.name(id), true
	case kindLogGroup, kindDomain:
		return r.chosen[id], true
	case kindBucket, kindAPI:
		return strings.ToLower(r.name(id)), true // bucket names and API IDs become part of host names
	case kindQueue:
		return r.baseURL + "/" + account + "/" + r.name(id), true
	case kindKey:
		return "alias/" + r.name(id), true
	case kindTopic:
		return arn("sns", r.name(id)), true
	case kindSecret:
		return r.attribute(kind, id, "Id")
	}
	return "", false
}

// attribute returns the value of Fn::GetAtt for a resource.
func (r *resolver) attribute(kind, id, name string) (string, bool) {
	switch kind + "." + name {
	case kindTable + ".Arn":
		return arn("dynamodb", "table/"+r.name(id)), true
	case kindFunction + ".Arn", kindTransformed + ".Arn":
		return arn("lambda", "function:"+r.name(id)), true
	case kindQueue + ".Arn":
		return arn("sqs", r.name(id)), true
	case kindQueue + ".QueueName":
		return r.name(id), true
	case kindBucket + ".Arn":
		return "arn:aws:s3:::" + strings.ToLower(r.name(id)), true
	case kindKey + ".Arn":
		return arn("kms", "alias/"+r.name(id)), true
	case kindAlarm + ".Arn":
		return arn("cloudwatch", "alarm:"+r.name(id)), true
	case kindRole + ".Arn":
		return "arn:aws:iam::" + account + ":role/" + r.name(id), true
	case kindLogGroup + ".Arn":
		return arn("logs", "log-group:"+r.chosen[id]+":*"), true // CloudFormation's format, which includes log streams
	case kindAPI + ".Stage": // SAM creates this resource for an API
		return r.chosen[id], true
	case kindDomain + ".RegionalDomainName":
		return "d-" + strings.ToLower(id) + ".execute-api." + region + ".amazonaws.com", true
	case kindDistribution + ".DomainName":
		return "d" + strings.ToLower(id) + ".cloudfront.net", true
	case kindFirewall + ".Arn":
		return arn("wafv2", "regional/webacl/"+r.name(id)), true
	case kindSecret + ".Id":
		return arn("secretsmanager", "secret:"+r.name(id)), true
	}
	return "", false
}

// chosenName returns the property that sets the physical name of a resource type.
func chosenName(kind string) string {
	return map[string]string{kindLogGroup: "LogGroupName", kindAPI: "StageName", kindDomain: "DomainName"}[kind]
}

// readChosen reads the physical names that the template specifies.
func (r *resolver) readChosen(all []resource) error {
	r.chosen = map[string]string{}
	for _, one := range all {
		property := chosenName(one.kind)
		for _, e := range entries(one.properties) {
			if property == "" || e.key != property {
				continue
			}
			name, err := r.text(e.value)
			if err != nil {
				return in(one.id, err)
			}
			r.chosen[one.id] = name
		}
	}
	return nil
}
