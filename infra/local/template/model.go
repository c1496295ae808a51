package template

import "time"

// Template is a resolved template. Resources whose Condition does not hold are absent. Lists are in the order of the
// file, except that Queues lists a dead-letter queue before the queues that name it, since SQS requires it to exist.
type Template struct {
	Functions  []Function
	Tables     []Table
	Queues     []Queue
	Buckets    []Bucket
	Keys       []Key
	Secrets    []Secret
	Parameters []Parameter // SSM parameters, not the template's own
	API        API
	// Outputs holds the resolved Outputs, as CloudFormation shows them for a deployed stack.
	Outputs map[string]string
}

// Function is one AWS::Serverless::Function after the merge with Globals.
type Function struct {
	LogicalID string // "GetOrgFunction": invokes it and is its access key on a laptop
	Name      string // physical name, <stack>-<LogicalID>
	Folder    string // "getorg": its folder under functions/ and its name in the build
	Timeout   time.Duration
	MemoryMB  int
	Reserved  int // reserved executions, also its maximum; 0 if not declared
	// Environment holds the template's variables. The runner adds Lambda's own (AWS_REGION and so on).
	Environment map[string]string
	LogGroup    string // name
	// Statements holds the statements of the function's role.
	Statements    []Statement
	Routes        []Route
	QueueTriggers []QueueTrigger
	Schedules     []Schedule
}

// Route is a method of a path of the API. Method is upper case, or ANY for every method without a separate route; Path
// is as declared, without the stage: /a/{id}, /sandbox/{proxy+}.
type Route struct{ Method, Path string }

// QueueTrigger is an SQS event.
type QueueTrigger struct {
	QueueURL, QueueARN string
	BatchSize          int // 1 to 10
	MaxConcurrency     int // ScalingConfig.MaximumConcurrency, 0 if not declared
	PartialFailures    bool
}

// Schedule is a Schedule event. Name is <LogicalID><event name>, as SAM names the rule.
type Schedule struct {
	Name  string
	Every time.Duration
}

// Statement is one statement of a role. Its Effect is Allow; Load refuses others.
type Statement struct {
	Sid       string
	Actions   []string                       // "dynamodb:GetItem"
	Resources []string                       // ARNs, possibly with *
	Condition map[string]map[string][]string // operator, key, values; nil if there is none
}

// Table is an AWS::DynamoDB::Table.
type Table struct {
	LogicalID, Name, ARN string
	Attributes           map[string]string // name to S, N or B
	Key                  KeySchema
	Indexes              []Index
	TTLAttribute         string // empty if items do not expire
}

// KeySchema names the attributes of a key; Range is empty if there is none.
type KeySchema struct{ Hash, Range string }

// Index is a global secondary index. Projection is KEYS_ONLY or ALL.
type Index struct {
	Name       string
	Key        KeySchema
	Projection string
}

// Queue is an AWS::SQS::Queue. Attributes are in CreateQueue's form.
type Queue struct {
	LogicalID, Name, URL, ARN string
	Attributes                map[string]string
	DeadLetterARN             string // empty if there is none
	VisibilityTimeout         time.Duration
}

// Bucket is an AWS::S3::Bucket.
type Bucket struct {
	LogicalID, Name, ARN string
	KeyARN               string // of the default KMS key for its objects; empty for S3's own key
}

// Key is an AWS::KMS::Key. Its ARN is that of its alias, since the key's own id is unknown until it exists.
type Key struct {
	LogicalID, Alias, ARN string
	Spec, Usage           string // in KMS's names; empty for a symmetric encryption key
}

// Secret is an AWS::SecretsManager::Secret with a generated value: Length random characters, stored under StringKey in
// the JSON object StringTemplate, or bare if that is empty.
type Secret struct {
	LogicalID, Name, ARN string
	StringTemplate       string
	StringKey            string
	Length               int
	ExcludePunctuation   bool
}

// Parameter is an AWS::SSM::Parameter of type String.
type Parameter struct{ LogicalID, Name, Value string }

// API is the AWS::Serverless::Api; LogicalID is empty if the template has none.
type API struct {
	LogicalID        string
	Stage            string
	BinaryMediaTypes []string
	GatewayResponses map[string]GatewayResponse // by response type, such as MISSING_AUTHENTICATION_TOKEN
}

// GatewayResponse is a response that API Gateway sends without invoking a function.
type GatewayResponse struct {
	StatusCode int               // 0 for the type's default
	Headers    map[string]string // name to context.requestId or 'literal'
	Body       string            // JSON, may contain $context.requestId; empty for API Gateway's own text
}
