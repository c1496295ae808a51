package template

import "time"

// Template is a resolved template, without resources whose Condition is false. Its lists are in file order, except for
// Queues. In Queues, a dead-letter queue precedes the queues that refer to it, because SQS requires that it exist.
type Template struct {
	Functions  []Function
	Tables     []Table
	Queues     []Queue
	Buckets    []Bucket
	Keys       []Key
	Secrets    []Secret
	Parameters []Parameter // AWS::SSM::Parameter resources, not template parameters
	API        API
	// Outputs holds the resolved outputs, as CloudFormation returns them for a deployed stack.
	Outputs map[string]string
}

// Function is an AWS::Serverless::Function after merging the Globals.
type Function struct {
	LogicalID string // such as "GetOrgFunction"; identifies the function in invocations and is its local access key ID
	Name      string // physical name, <stack>-<LogicalID>
	Folder    string // folder below functions/ and in the build output, such as "getorg"
	Timeout   time.Duration
	MemoryMB  int
	Reserved  int // reserved concurrency, which is also the maximum; 0 if not set
	// Environment holds the variables that the template declares. The runner adds Lambda's own variables, such as
	// AWS_REGION.
	Environment map[string]string
	LogGroup    string
	// Statements holds the policy statements of the function's role.
	Statements    []Statement
	Routes        []Route
	QueueTriggers []QueueTrigger
	Schedules     []Schedule
}

// Route is an HTTP method and path of the API. Method is in upper case; ANY matches every method that has no route of
// its own. Path is the declared path without the stage, such as /a/{id} or /sandbox/{proxy+}.
type Route struct{ Method, Path string }

// QueueTrigger is a function's SQS event. LogicalID is <function's LogicalID><event name>, which is SAM's name for the
// event source mapping.
type QueueTrigger struct {
	LogicalID          string
	QueueURL, QueueARN string
	BatchSize          int // maximum number of messages per invocation, from 1 to 10
	MaxConcurrency     int // ScalingConfig.MaximumConcurrency, or 0 if not set
	PartialFailures    bool
}

// Schedule is a function's Schedule event. Name is <LogicalID><event name>, which is SAM's name for the rule.
type Schedule struct {
	Name  string
	Every time.Duration
}

// Statement is a policy statement of a role. The effect is always Allow, because Load rejects any other Effect.
type Statement struct {
	Sid       string
	Actions   []string                       // such as "dynamodb:GetItem"
	Resources []string                       // ARNs, possibly with * wildcards
	Condition map[string]map[string][]string // values by operator and condition key; nil if unconditional
}

// Table is an AWS::DynamoDB::Table.
type Table struct {
	LogicalID, Name, ARN string
	Attributes           map[string]string // attribute type (S, N or B) by attribute name
	Key                  KeySchema
	Indexes              []Index
	TTLAttribute         string // time to live attribute; empty if rows do not expire
}

// KeySchema names the attributes of a key. Range is empty if the key consists of only a partition key.
type KeySchema struct{ Hash, Range string }

// Index is a global secondary index. Projection is either KEYS_ONLY or ALL.
type Index struct {
	Name       string
	Key        KeySchema
	Projection string
}

// Queue is an AWS::SQS::Queue. Attributes has the same format as CreateQueue's Attributes parameter.
type Queue struct {
	LogicalID, Name, URL, ARN string
	Attributes                map[string]string
	DeadLetterARN             string // ARN of the dead-letter queue; empty if there is none
	VisibilityTimeout         time.Duration
}

// Bucket is an AWS::S3::Bucket.
type Bucket struct {
	LogicalID, Name, ARN string
	KeyARN               string // default KMS key for objects; empty for S3's own key
}

// Key is an AWS::KMS::Key. ARN is the ARN of the key's alias, because the key's ID is unknown until the key exists.
type Key struct {
	LogicalID, Alias, ARN string
	Spec, Usage           string // KMS values; empty for a symmetric encryption key
}

// Secret is an AWS::SecretsManager::Secret whose generated value has Length random characters. The value is stored
// under StringKey in the JSON object StringTemplate, or as plain text if StringTemplate is empty.
type Secret struct {
	LogicalID, Name, ARN string
	StringTemplate       string
	StringKey            string
	Length               int
	ExcludePunctuation   bool
}

// Parameter is an AWS::SSM::Parameter of type String.
type Parameter struct{ LogicalID, Name, Value string }

// API is the template's AWS::Serverless::Api resource. LogicalID is empty if the template has no API.
type API struct {
	LogicalID        string
	Stage            string
	BinaryMediaTypes []string
	MinCompression   int                        // minimum response size to compress, in bytes; 0 disables compression
	GatewayResponses map[string]GatewayResponse // responses by type, such as MISSING_AUTHENTICATION_TOKEN
}

// GatewayResponse is a response that API Gateway sends without invoking a function.
type GatewayResponse struct {
	StatusCode int               // 0 selects the response type's default
	Headers    map[string]string // header values by name; each value is context.requestId or 'literal'
	Body       string            // JSON that may contain $context.requestId; empty for API Gateway's default text
}
