"""Mutations for each cfn-guard rule: each breaks a valid template in one place, and its rule must detect it."""

import collections
import copy

# A place is the first resource of a type, or a section of the template, followed by keys and positions.
Mutation = collections.namedtuple("Mutation", "rule place value")

REMOVED = "removed"

FUNCTION, PERMISSION, ROLE, KEY, SECRET = (
    "AWS::Lambda::Function", "AWS::Lambda::Permission", "AWS::IAM::Role", "AWS::KMS::Key", "AWS::SecretsManager::Secret")
TABLE, BUCKET, QUEUE, TOPIC, GROUP, ALARM = (
    "AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::SNS::Topic", "AWS::Logs::LogGroup", "AWS::CloudWatch::Alarm")
API, STAGE, MAPPING = "AWS::ApiGateway::RestApi", "AWS::ApiGateway::Stage", "AWS::Lambda::EventSourceMapping"
ACTION = (ROLE, "Properties", "Policies", 0, "PolicyDocument", "Statement", 0, "Action", 0)
CONNECT = (API, "Properties", "Body", "paths", "/bridge/connect", "x-amazon-apigateway-any-method")
QUEUES = ("AWS::SQS::QueuePolicy", "Properties")
TLS = ("PolicyDocument", "Statement", 0)
BUCKET_POLICY, TOPIC_POLICY, WEB_ACL = ("AWS::S3::BucketPolicy", "Properties"), ("AWS::SNS::TopicPolicy", "Properties"), "AWS::WAFv2::WebACL"
DEAD, TOKENS, FLOW = ("Resources", "ExportDeadLetterQueue"), ("Resources", "TokensTable"), ("Resources", "FlowTable")
STATEMENT = (ROLE, "Properties", "Policies", 0, "PolicyDocument", "Statement", 0)
LOGGED = (STAGE, "Properties", "AccessLogSetting", "Format")

# Resources that rules distinguish by name are in the sample in addition to the first of their type.
KEPT = {"ExportDeadLetterQueue", "TokensTable", "FlowTable", "DashboardSessionRole", "AlarmKey", "FirewallLogGroup", "RequestErrorsAlarm"}
BLOCKED, BLOCKED_GROUP = "AWS::WAFv2::LoggingConfiguration", ("Resources", "FirewallLogGroup", "Properties")
ANSWERS = (API, "Properties", "Body", "x-amazon-apigateway-gateway-responses", "DEFAULT_4XX")

MUTATIONS = (
    Mutation("functions_are_traced", (FUNCTION, "Properties", "TracingConfig"), {"Mode": "PassThrough"}),
    Mutation("functions_are_traced", (FUNCTION, "Properties", "TracingConfig"), REMOVED),
    Mutation("functions_run_what_was_built_here", (FUNCTION, "Properties", "Runtime"), "python3.13"),
    Mutation("functions_run_what_was_built_here", (FUNCTION, "Properties", "Handler"), "main"),
    Mutation("functions_run_what_was_built_here", (FUNCTION, "Properties", "Layers"), ["arn:aws:lambda:us-east-1:1:layer:x:1"]),
    Mutation("functions_hold_no_secret", (FUNCTION, "Properties", "Environment", "Variables", "KEY"), "{{resolve:secretsmanager:key}}"),
    Mutation("functions_are_called_by_their_own_stack", (PERMISSION, "Properties", "SourceArn"), REMOVED),
    Mutation("functions_are_called_by_their_own_stack", (PERMISSION, "Properties", "Principal"), "*"),
    Mutation("functions_are_called_by_their_own_stack", (PERMISSION, "Properties", "Action"), "lambda:*"),
    Mutation("functions_are_called_as_released", (PERMISSION, "Properties", "FunctionName"), {"Ref": "ConnectFunction"}),
    Mutation("functions_are_called_as_released", (MAPPING, "Properties", "FunctionName"), {"Ref": "ExportWorkerFunction"}),
    Mutation("functions_are_called_as_released", ("AWS::Events::Rule", "Properties", "Targets", 0, "Arn"), {"Fn::GetAtt": ["SweeperFunction", "Arn"]}),
    Mutation("functions_are_called_as_released", (*CONNECT, "x-amazon-apigateway-integration", "uri"), {"Fn::Sub": "${ConnectFunction.Arn}/invocations"}),
    Mutation("queues_leave_room_for_requests", (MAPPING, "Properties", "ScalingConfig"), REMOVED),
    Mutation("roles_administer_nothing", ACTION, "dynamodb:UpdateTable"),
    Mutation("roles_administer_nothing", ACTION, "kms:*"),
    Mutation("roles_administer_nothing", ACTION, "iam:PassRole"),
    Mutation("files_are_listed_by_folder", ACTION, "s3:ListBucket"),
    Mutation("keys_outlive_the_stack", (KEY, "DeletionPolicy"), "Delete"),
    Mutation("keys_outlive_the_stack", (KEY, "UpdateReplacePolicy"), REMOVED),
    Mutation("keys_outlive_the_stack", (KEY, "Properties", "PendingWindowInDays"), 7),
    Mutation("secrets_outlive_the_stack", (SECRET, "DeletionPolicy"), REMOVED),
    Mutation("secrets_outlive_the_stack", (SECRET, "UpdateReplacePolicy"), "Delete"),
    Mutation("secrets_are_known_to_nobody", (SECRET, "Properties", "SecretString"), "invented"),
    Mutation("secrets_are_known_to_nobody", (SECRET, "Properties", "GenerateSecretString"), REMOVED),
    Mutation("secrets_are_known_to_nobody", ("Parameters", "MailFrom", "NoEcho"), True),
    Mutation("rows_are_in_one_place", (TABLE, "Properties", "StreamSpecification"), {"StreamViewType": "NEW_IMAGE"}),
    Mutation("rows_are_in_one_place", (TABLE, "Properties", "KinesisStreamSpecification"), {"StreamArn": "x"}),
    Mutation("tables_take_every_load", (TABLE, "Properties", "BillingMode"), "PROVISIONED"),
    Mutation("files_are_in_one_place", (BUCKET, "Properties", "VersioningConfiguration"), {"Status": "Enabled"}),
    Mutation("files_are_in_one_place", (BUCKET, "Properties", "ReplicationConfiguration"), {"Role": "x"}),
    Mutation("files_outlive_the_stack", (BUCKET, "DeletionPolicy"), REMOVED),
    Mutation("files_outlive_the_stack", (BUCKET, "UpdateReplacePolicy"), REMOVED),
    Mutation("apis_are_of_one_region", (API, "Properties", "EndpointConfiguration", "Types"), ["EDGE"]),
    Mutation("apis_pass_everything_on", (*CONNECT, "x-amazon-apigateway-integration", "type"), "aws"),
    Mutation("apis_invoke_by_role", (*CONNECT, "x-amazon-apigateway-integration", "credentials"), REMOVED),
    Mutation("apis_invoke_by_role", (*CONNECT, "x-amazon-apigateway-integration", "credentials"), "arn:aws:iam::*:user/*"),
    Mutation("apis_answer_every_method", CONNECT, REMOVED),
    Mutation("apis_own_answers_are_not_stored", (*ANSWERS, "responseParameters", "gatewayresponse.header.Cache-Control"), REMOVED),
    Mutation("stages_keep_no_answers", (STAGE, "Properties", "CacheClusterEnabled"), True),
    Mutation("stages_keep_no_answers", (STAGE, "Properties", "MethodSettings", 0, "CachingEnabled"), True),
    Mutation("stages_have_a_limit", (STAGE, "Properties", "MethodSettings", 0, "ThrottlingRateLimit"), REMOVED),
    Mutation("stages_have_a_limit", (STAGE, "Properties", "MethodSettings", 0, "ThrottlingBurstLimit"), REMOVED),
    Mutation("stages_have_a_limit", (STAGE, "Properties", "MethodSettings", 0, "HttpMethod"), "GET"),
    Mutation("stages_write_no_bodies", (STAGE, "Properties", "MethodSettings", 0, "DataTraceEnabled"), True),
    Mutation("stages_write_no_bodies", (STAGE, "Properties", "MethodSettings", 0, "LoggingLevel"), "INFO"),
    Mutation("nothing_has_a_fixed_name", (FUNCTION, "Properties", "FunctionName"), "connect"),
    Mutation("nothing_has_a_fixed_name", (TABLE, "Properties", "TableName"), "control"),
    Mutation("nothing_has_a_fixed_name", (BUCKET, "Properties", "BucketName"), "exports"),
    Mutation("nothing_has_a_fixed_name", (QUEUE, "Properties", "QueueName"), "export"),
    Mutation("nothing_has_a_fixed_name", (TOPIC, "Properties", "TopicName"), "alarms"),
    Mutation("nothing_has_a_fixed_name", (SECRET, "Properties", "Name"), "cursor"),
    Mutation("nothing_has_a_fixed_name", (ALARM, "Properties", "AlarmName"), "errors"),
    Mutation("names_that_are_fixed_are_of_the_stack", ("AWS::SSM::Parameter", "Properties", "Name"), "/recordbridge/base-url"),
    Mutation("names_that_are_fixed_are_of_the_stack", (GROUP, "Properties", "LogGroupName"), "/recordbridge/connect"),
    Mutation("logs_outlive_the_stack", (GROUP, "DeletionPolicy"), "Delete"),
    Mutation("logs_outlive_the_stack", (GROUP, "UpdateReplacePolicy"), REMOVED),
    Mutation("logs_outlive_the_stack", (GROUP, "Properties", "RetentionInDays"), REMOVED),
    Mutation("no_code_runs_in_a_deployment", ("Resources", "Added"), {"Type": "Custom::Seed"}),
    Mutation("no_code_runs_in_a_deployment", ("Resources", "Added"), {"Type": "AWS::CloudFormation::CustomResource"}),
    Mutation("parameters_are_explained", ("Parameters", "MailFrom", "Description"), REMOVED),
    Mutation("parameters_are_explained", ("Parameters", "MailFrom", "Default"), REMOVED),
    Mutation("parameters_are_checked", ("Parameters", "WorkerLease", "AllowedPattern"), REMOVED),
    Mutation("parameters_are_checked", ("Parameters", "KeyedRequestsPerMinute", "MinValue"), REMOVED),
    Mutation("parameters_are_checked", ("Parameters", "KeyedRequestsPerMinute", "MaxValue"), REMOVED),
    Mutation("queues_are_encrypted", (QUEUE, "Properties", "SqsManagedSseEnabled"), False),
    Mutation("queues_keep_their_failures", (QUEUE, "Properties", "RedrivePolicy"), REMOVED),
    Mutation("queues_keep_their_failures", (QUEUE, "Properties", "RedrivePolicy", "deadLetterTargetArn"), "arn:aws:sqs:us-east-1:1:dead"),
    Mutation("queues_keep_their_failures", (QUEUE, "Properties", "RedriveAllowPolicy"), REMOVED),
    Mutation("queues_keep_their_failures", (QUEUE, "Properties", "MessageRetentionPeriod"), 1209600),
    Mutation("queues_keep_their_failures", (*DEAD, "Properties", "MessageRetentionPeriod"), REMOVED),
    Mutation("queues_keep_their_failures", (MAPPING, "Properties", "EventSourceArn"), {"Fn::GetAtt": ["ExportDeadLetterQueue", "Arn"]}),
    Mutation("queues_refuse_plain_http", (*QUEUES, "Queues"), []),
    Mutation("queues_refuse_plain_http", (*QUEUES, *TLS, "Effect"), "Allow"),
    Mutation("queues_refuse_plain_http", (*QUEUES, *TLS, "Condition", "Bool", "aws:SecureTransport"), "true"),
    Mutation("queues_repeat_only_what_failed", (MAPPING, "Properties", "FunctionResponseTypes"), REMOVED),
    Mutation("topics_are_reached_by_alarms", (TOPIC, "Properties", "KmsMasterKeyId"), REMOVED),
    Mutation("topics_are_reached_by_alarms", ("Resources", "AlarmKey", "Properties", "KeyPolicy", "Statement", 1, "Action"), ["kms:Decrypt"]),
    Mutation("topics_are_reached_by_alarms", (*TOPIC_POLICY, *TLS, "Condition"), REMOVED),
    Mutation("topics_refuse_plain_http", ("Resources", "Added"), {"Type": TOPIC, "Properties": {}}),
    Mutation("topics_refuse_plain_http", (*TOPIC_POLICY, "PolicyDocument", "Statement", 1, "Condition", "Bool", "aws:SecureTransport"), "true"),
    Mutation("alarms_reach_somebody", (ALARM, "Properties", "AlarmActions"), REMOVED),
    Mutation("alarms_reach_somebody", (ALARM, "Properties", "AlarmActions"), ["arn:aws:sns:us-east-1:1:other"]),
    Mutation("alarms_reach_somebody", (ALARM, "Properties", "OKActions"), []),
    Mutation("alarms_reach_somebody", (ALARM, "Properties", "AlarmActions"), [{"Ref": "TicketTopic"}]),
    Mutation("alarms_reach_somebody", (ALARM, "Properties", "AlarmDescription"), "It failed. Runbook docs/operate/runbooks/api-errors.md"),
    Mutation("alarms_reach_somebody", (ALARM, "Properties", "AlarmDescription"), "Page: It failed."),
    Mutation("alarms_reach_somebody", ("Resources", "RequestErrorsAlarm", "Properties", "OKActions"), [{"Ref": "AlarmTopic"}]),
    Mutation("alarms_say_what_silence_means", (ALARM, "Properties", "TreatMissingData"), REMOVED),
    Mutation("alarms_say_what_silence_means", (ALARM, "Properties", "TreatMissingData"), "ignore"),
    Mutation("alarms_are_about_one_number_of_this_stack", (ALARM, "Properties", "Metrics", 0, "Expression"), "SUM(SEARCH('x', 'Sum'))"),
    Mutation("alarms_are_about_one_number_of_this_stack", (ALARM, "Properties", "Metrics", 0, "Expression"), "SELECT SUM(E) FROM N"),
    Mutation("alarms_are_about_one_number_of_this_stack", (ALARM, "Properties", "Metrics", 0, "ReturnData"), False),
    Mutation("alarms_are_about_one_number_of_this_stack", (ALARM, "Properties", "Metrics", 1, "ReturnData"), True),
    Mutation("alarms_are_about_one_number_of_this_stack", (ALARM, "Properties", "Metrics"), [{"ReturnData": True}] + 11 * [{"MetricStat": {}}]),
    Mutation("tables_are_encrypted", (TABLE, "Properties", "SSESpecification"), REMOVED),
    Mutation("lasting_rows_outlive_a_mistake", (TABLE, "DeletionPolicy"), "Retain"),
    Mutation("lasting_rows_outlive_a_mistake", (TABLE, "UpdateReplacePolicy"), "Delete"),
    Mutation("lasting_rows_outlive_a_mistake", (TABLE, "Properties", "DeletionProtectionEnabled"), False),
    Mutation("lasting_rows_outlive_a_mistake", (TABLE, "Properties", "PointInTimeRecoverySpecification"), REMOVED),
    Mutation("lasting_rows_outlive_a_mistake", (TABLE, "Properties", "PointInTimeRecoverySpecification", "RecoveryPeriodInDays"), 7),
    Mutation("lasting_rows_outlive_a_mistake", (*TOKENS, "Properties", "PointInTimeRecoverySpecification", "RecoveryPeriodInDays"), REMOVED),
    Mutation("rows_expire_by_their_class", (TABLE, "Properties", "TimeToLiveSpecification"), {"AttributeName": "ttl", "Enabled": True}),
    Mutation("rows_expire_by_their_class", (*FLOW, "Properties", "TimeToLiveSpecification"), REMOVED),
    Mutation("files_are_encrypted", (BUCKET, "Properties", "BucketEncryption"), REMOVED),
    Mutation("files_belong_to_the_bucket", (BUCKET, "Properties", "OwnershipControls"), REMOVED),
    Mutation("files_come_to_an_end", (BUCKET, "Properties", "LifecycleConfiguration", "Rules", 0, "Status"), "Disabled"),
    Mutation("files_refuse_plain_http", (BUCKET_POLICY[0],), {"Type": "AWS::S3::Bucket", "Properties": {}}),
    Mutation("files_refuse_plain_http", (*BUCKET_POLICY, *TLS, "Action"), "s3:GetObject"),
    Mutation("files_refuse_plain_http", (*BUCKET_POLICY, *TLS, "Principal"), {"AWS": "x"}),
    Mutation("files_refuse_plain_http", (*BUCKET_POLICY, *TLS, "Resource", 1), REMOVED),
    Mutation("functions_are_limited", (FUNCTION, "Properties", "Timeout"), REMOVED),
    Mutation("functions_are_limited", (FUNCTION, "Properties", "Timeout"), 29),
    Mutation("functions_are_limited", (FUNCTION, "Properties", "MemorySize"), REMOVED),
    Mutation("functions_are_limited", (FUNCTION, "Properties", "Architectures"), ["x86_64"]),
    Mutation("functions_are_limited", (FUNCTION, "Properties", "LoggingConfig"), {"LogGroup": "/aws/lambda/connect"}),
    Mutation("functions_are_limited", (*CONNECT, "x-amazon-apigateway-integration", "uri"), {"Fn::Sub": "${SweeperFunctionAliaslive}/invocations"}),
    Mutation("the_audit_table_is_only_added_to", STATEMENT,
             {"Effect": "Allow", "Action": ["dynamodb:UpdateItem"], "Resource": [{"Fn::GetAtt": ["AuditTable", "Arn"]}]}),
    Mutation("an_organisations_rows_are_named", (*STATEMENT, "Condition", "ForAllValues:StringLike", "dynamodb:LeadingKeys", 0), "live#*"),
    Mutation("access_logs_tell_of_no_caller", LOGGED, '{"status":"$context.status","ip":"$context.identity.sourceIp"}'),
    Mutation("access_logs_tell_of_no_caller", LOGGED, '{"route":"$context.resourcePath","path":"$context.path"}'),
    Mutation("access_logs_tell_of_no_caller", LOGGED, '{"status":"$context.statusText"}'),
    Mutation("apis_are_reached_by_their_name_alone", ("AWS::ApiGateway::DomainName", "Properties", "SecurityPolicy"), "TLS_1_0"),
    Mutation("apis_are_reached_by_their_name_alone", (API, "Properties", "Body", "servers"), REMOVED),
    Mutation("firewalls_keep_no_requests", (WEB_ACL, "Properties", "VisibilityConfig", "SampledRequestsEnabled"), True),
    Mutation("firewalls_log_no_caller", (BLOCKED,), {"Type": "AWS::S3::Bucket", "Properties": {}}),
    Mutation("firewalls_log_no_caller", (BLOCKED, "Properties", "LoggingFilter"), REMOVED),
    Mutation("firewalls_log_no_caller", (BLOCKED, "Properties", "LoggingFilter", "DefaultBehavior"), "KEEP"),
    Mutation("firewalls_log_no_caller", (BLOCKED, "Properties", "LoggingFilter", "Filters", 0, "Conditions", 0, "ActionCondition", "Action"), "ALLOW"),
    Mutation("firewalls_log_no_caller", (BLOCKED, "Properties", "RedactedFields", 0), REMOVED),
    Mutation("firewalls_log_no_caller", (WEB_ACL, "Properties", "DataProtectionConfig"), REMOVED),
    Mutation("firewalls_log_no_caller", (WEB_ACL, "Properties", "DataProtectionConfig", "DataProtections", 1), REMOVED),
    Mutation("firewalls_log_no_caller", (WEB_ACL, "Properties", "DataProtectionConfig", "DataProtections", 2, "Field", "FieldKeys"), ["cookie"]),
    Mutation("firewalls_log_no_caller", (*BLOCKED_GROUP, "DataProtectionPolicy"), REMOVED),
    Mutation("firewalls_log_no_caller", (*BLOCKED_GROUP, "DataProtectionPolicy", "Statement", 1), REMOVED),
    Mutation("firewalls_keep_no_requests", (WEB_ACL, "Properties", "Rules", 2, "VisibilityConfig", "SampledRequestsEnabled"), True),
)


def sample(template):
    """Returns a small template: the first resource of each type, and those that rules distinguish by name."""
    first = {}
    for name, resource in template["Resources"].items():
        first.setdefault(resource["Type"], name)
    sampled = {name: resource for name, resource in template["Resources"].items() if name in KEPT | set(first.values())}
    sampled = copy.deepcopy(sampled)
    body = sampled[first[API]]["Properties"]["Body"]
    body["paths"] = {CONNECT[4]: body["paths"][CONNECT[4]]}
    return template | {"Resources": sampled}


def apply(mutation, template):
    """Returns a template that is broken at the mutation's place, which must exist unless the mutation appends to it."""
    broken = copy.deepcopy(template)
    node, path = broken, list(mutation.place)
    if path[0].startswith("AWS::"):
        path[:1] = ["Resources", next((name for name, r in template["Resources"].items() if r["Type"] == path[0]), path[0])]
    for key in path[:-1]:
        node = node[key]
    if mutation.value is REMOVED:
        del node[path[-1]]
    else:
        node[path[-1]] = mutation.value
    return broken
