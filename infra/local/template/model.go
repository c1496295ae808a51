package template

import "time"

// Template is a resolved template. Resources whose Condition does not hold are absent. Lists keep the order of the
// file, but Queues lists a dead letter queue before the queues that name it, since SQS wants it to exist.
type Template struct {
	Functions  []Function
	Tables     []Table
	Queues     []Queue
	Buckets    []Bucket
	Keys       []Key
	Secrets    []Secret
	Parameters []Parameter // SSM parameters, not the template's own
	API        API
	// Outputs are the resolved Outputs, as CloudFormation shows them for a deployed stack.
	Outputs map[string]string
}

// Function is one AWS::Serverless::Function after the merge with Globals.
type Function struct {
	LogicalID string // "GetOrgFunction": the name used for invoking it and as its access key on a laptop
	Name      string // physical name, <stack>-<LogicalID>
	Folder    string // "getorg": its folder under functions/ and its name in the build
	Timeout   time.Duration
	MemoryMB  int
	Reserved  int // executions that are kept for it, and no more; 0 when not declared
	// Environment is what the template declares. What Lambda itself adds (AWS_REGION and so on) is the runner's.
	Environment map[string]string
	LogGroup    string // name
	// Statements are those of the function's role.
	Statements    []Statement
	Routes        []Route
	QueueTriggers []QueueTrigger
	Schedules     []Schedule
}

// Route is a method of a path of the API. Method is upper case, ANY for every method without a route of its own; Path
// is as declared, without the stage: /a/{id}, /sandbox/{proxy+}.
type Route struct{ Method, Path string }

// QueueTrigger is an SQS event.
type QueueTrigger struct {
	QueueURL, QueueARN string
	BatchSize          int // 1 to 10
	MaxConcurrency     int // ScalingConfig.MaximumConcurrency, 0 when not declared
	PartialFailures    bool
}

// Schedule is a Schedule event. Name is <LogicalID><event name>, as SAM names the rule.
type Schedule struct {
	Name  string
	Every time.Duration
}

// Statement is one statement of a role. Its Effect is Allow: others are refused by Load.
type Statement struct {
	Sid       string
	Actions   []string                       // "dynamodb:GetItem"
	Resources []string                       // ARNs, perhaps with *
	Condition map[string]map[string][]string // operator, key, values; nil when there is none
}

// Table is an AWS::DynamoDB::Table.
type Table struct {
	LogicalID, Name, ARN string
	Attributes           map[string]string // name to S, N or B
	Key                  KeySchema
	Indexes              []Index
	TTLAttribute         string // empty when items do not expire
}

// KeySchema names the attributes of a key; Range is empty when there is none.
type KeySchema struct{ Hash, Range string }

// Index is a global secondary index. Projection is KEYS_ONLY or ALL.
type Index struct {
	Name       string
	Key        KeySchema
	Projection string
}

// Queue is an AWS::SQS::Queue. Attributes are as CreateQueue wants them.
type Queue struct {
	LogicalID, Name, URL, ARN string
	Attributes                map[string]string
	DeadLetterARN             string // empty when there is none
	VisibilityTimeout         time.Duration
}

// Bucket is an AWS::S3::Bucket.
type Bucket struct {
	LogicalID, Name, ARN string
	KeyARN               string // of the KMS key that encrypts its objects by default; empty when S3's own key does
}

// Key is an AWS::KMS::Key. Its ARN is that of its alias, since a key's own id is known only once it exists.
type Key struct {
	LogicalID, Alias, ARN string
	Spec, Usage           string // as KMS names them; empty for a symmetric key that encrypts
}

// Secret is an AWS::SecretsManager::Secret with a generated value: Length random characters, stored under StringKey in
// the JSON object StringTemplate, or bare when that is empty.
type Secret struct {
	LogicalID, Name, ARN string
	StringTemplate       string
	StringKey            string
	Length               int
	ExcludePunctuation   bool
}

// Parameter is an AWS::SSM::Parameter of type String.
type Parameter struct{ LogicalID, Name, Value string }

// API is the AWS::Serverless::Api; LogicalID is empty when the template has none.
type API struct {
	LogicalID        string
	Stage            string
	BinaryMediaTypes []string
	GatewayResponses map[string]GatewayResponse // by response type, such as MISSING_AUTHENTICATION_TOKEN
}

// GatewayResponse is what API Gateway answers without asking a function.
type GatewayResponse struct {
	StatusCode int               // 0 for the type's own
	Headers    map[string]string // name to context.requestId or 'literal'
	Body       string            // JSON, in which $context.requestId stands for the id; empty for API Gateway's own text
}
