package template

import "time"

// Template is a resolved template, without resources whose Condition is false. Lists are in file order, except Queues.
// Queues lists a dead-letter queue before the queues that refer to it, because SQS requires the dead-letter queue to
// exist.
type Template struct {
	Functions  []Function
	Tables     []Table
	Queues     []Queue
	Buckets    []Bucket
	Keys       []Key
	Secrets    []Secret
	Parameters []Parameter // SSM parameters, not the template's own
	API        API
	// Outputs holds the resolved outputs, as CloudFormation returns them for a deployed stack.
	Outputs map[string]string
}

// Function is an AWS::Serverless::Function after merging the Globals.
type Function struct {
	LogicalID string // ID such as "GetOrgFunction"; used for invocations and, on a laptop, as the function's access key
	Name      string // physical name, <stack>-<LogicalID>
	Folder    string // directory below functions/ and name in the build, such as "getorg"
	Timeout   time.Duration
	MemoryMB  int
	Reserved  int // reserved concurrency, which is also the maximum; 0 if not declared
	// Environment holds the template's variables. The runner adds Lambda's own variables, such as AWS_REGION.
	Environment map[string]string
	LogGroup    string // log group name
	// Statements holds the statements of the function's role.
	Statements    []Statement
	Routes        []Route
	QueueTriggers []QueueTrigger
	Schedules     []Schedule
}

// Route is a method and a path of the API. Method is in upper case, or is ANY for every method without its own route.
// Path is the declared path without the stage, such as /a/{id} or /sandbox/{proxy+}.
type Route struct{ Method, Path string }

// QueueTrigger is an SQS event of a function.
type QueueTrigger struct {
	QueueURL, QueueARN string
	BatchSize          int // batch size from 1 to 10
	MaxConcurrency     int // ScalingConfig.MaximumConcurrency, or 0 if not declared
	PartialFailures    bool
}

// Schedule is a Schedule event of a function. Name is <LogicalID><event name>, which is SAM's name for the rule.
type Schedule struct {
	Name  string
	Every time.Duration
}

// Statement is a statement in a role. The Effect is always Allow, because Load rejects any other Effect.
type Statement struct {
	Sid       string
	Actions   []string                       // actions, such as "dynamodb:GetItem"
	Resources []string                       // ARNs, possibly with *
	Condition map[string]map[string][]string // values by operator and key; nil without conditions
}

// Table is an AWS::DynamoDB::Table.
type Table struct {
	LogicalID, Name, ARN string
	Attributes           map[string]string // type (S, N or B) by attribute name
	Key                  KeySchema
	Indexes              []Index
	TTLAttribute         string // time-to-live attribute; empty if rows do not expire
}

// KeySchema names a key's attributes. Range is empty if the key does not include a sort key.
type KeySchema struct{ Hash, Range string }

// Index is a global secondary index. Projection is either KEYS_ONLY or ALL.
type Index struct {
	Name       string
	Key        KeySchema
	Projection string
}

// Queue is an AWS::SQS::Queue. Attributes use the same format as CreateQueue.
type Queue struct {
	LogicalID, Name, URL, ARN string
	Attributes                map[string]string
	DeadLetterARN             string // dead-letter queue's ARN; empty without a dead-letter queue
	VisibilityTimeout         time.Duration
}

// Bucket is an AWS::S3::Bucket.
type Bucket struct {
	LogicalID, Name, ARN string
	KeyARN               string // default KMS key for its objects; empty for S3's own key
}

// Key is an AWS::KMS::Key. ARN is the ARN of the key's alias, because the key's own ID is unknown until the key exists.
type Key struct {
	LogicalID, Alias, ARN string
	Spec, Usage           string // values in KMS's terms; empty for a symmetric encryption key
}

// Secret is an AWS::SecretsManager::Secret with a generated value of Length random characters. The value is stored
// under StringKey in the JSON object StringTemplate. If StringTemplate is empty, the value is stored without a JSON
// object.
type Secret struct {
	LogicalID, Name, ARN string
	StringTemplate       string
	StringKey            string
	Length               int
	ExcludePunctuation   bool
}

// Parameter is an AWS::SSM::Parameter of type String.
type Parameter struct{ LogicalID, Name, Value string }

// API is the AWS::Serverless::Api. LogicalID is empty if the template has no API.
type API struct {
	LogicalID        string
	Stage            string
	BinaryMediaTypes []string
	MinCompression   int                        // smallest response to compress, in bytes; 0 compresses none
	GatewayResponses map[string]GatewayResponse // responses by type, such as MISSING_AUTHENTICATION_TOKEN
}

// GatewayResponse is a response that API Gateway sends without invoking a function.
type GatewayResponse struct {
	StatusCode int               // HTTP status; 0 for the response type's default
	Headers    map[string]string // value by name, either context.requestId or 'literal'
	Body       string            // JSON that may contain $context.requestId; empty for API Gateway's own text
}
