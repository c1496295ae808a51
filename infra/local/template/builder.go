package template

type builder struct {
	values   *resolver
	template *Template
	events   []event         // events of all functions, read once every queue is known
	methods  []method        // the API's methods, read once all functions and roles are known
	roles    map[string]role // roles of functions by ARN
	gateway  map[string]role // roles of API Gateway, by ARN
	closed   []string        // ARNs of queues that can't be dead-letter queues
	denials  []keyDenial     // denials in key policies, checked once all roles are known
	needs    []functionNeeds // requirements of functions, checked once all roles are known
}

func (b *builder) add(r resource) error {
	properties := r.properties
	if properties != nil {
		var err error
		if properties, err = b.values.resolve(properties); err != nil {
			return err
		}
	}
	o := read(properties, r.line)
	metadata(r, o.err)
	t := b.template
	switch r.kind {
	case kindFunction:
		b.function(r, o)
	case kindAPI:
		b.api(r, o)
	case kindTable:
		t.Tables = append(t.Tables, b.table(r.id, o))
	case kindQueue:
		t.Queues = append(t.Queues, b.queue(r.id, o))
	case kindBucket:
		t.Buckets = append(t.Buckets, b.bucket(r.id, o))
	case kindKey:
		t.Keys = append(t.Keys, b.key(r.id, o))
	case kindSecret:
		t.Secrets = append(t.Secrets, b.secret(r.id, o))
	case kindParameter:
		t.Parameters = append(t.Parameters, parameter(r.id, o))
	case kindBucketPolicy, kindQueuePolicy:
		// Bucket and queue policies that deny requests without TLS are ignored, because a local stack uses plain HTTP.
		o.ignore("Bucket", "Queues", "PolicyDocument")
	case kindDomain, kindDomainPath, kindFirewall, kindFirewallOf, kindFirewallLog, kindDistribution:
		inFront(r, o)
	case kindRole:
		b.role(r, o)
	case kindLogGroup:
		// The runner shows logs as they arrive and does not store them.
		o.ignore("RetentionInDays", "KmsKeyId", "DataProtectionPolicy")
		o.required("LogGroupName")
	case kindDashboard, kindAlarm, kindTopic, kindTopicPolicy, kindSubscription:
		unwatched(r, o)
	}
	return o.end()
}

// ref returns the Ref value of a resource that is known to exist.
func (b *builder) ref(kind, id string) string {
	v, _ := b.values.reference(kind, id)
	return v
}

// arn returns the Arn attribute of a resource that is known to exist.
func (b *builder) arn(kind, id string) string {
	v, _ := b.values.attribute(kind, id, "Arn")
	return v
}

// bucket reads an AWS::S3::Bucket. Local objects are not encrypted, but the bucket's users still need permissions for
// its key. Access and lifecycle settings are ignored, because they apply only on AWS. The sweeper deletes files on time
// in every environment.
func (b *builder) bucket(id string, o *object) Bucket {
	o.ignore("PublicAccessBlockConfiguration", "OwnershipControls", "LifecycleConfiguration", "LoggingConfiguration")
	bucket := Bucket{LogicalID: id, Name: b.ref(kindBucket, id), ARN: b.arn(kindBucket, id)}
	encryption := o.object("BucketEncryption")
	for _, rule := range encryption.objects("ServerSideEncryptionConfiguration") {
		rule.ignore("BucketKeyEnabled")
		standard := rule.object("ServerSideEncryptionByDefault")
		standard.oneOf("SSEAlgorithm", "aws:kms", "AES256")
		bucket.KeyARN = standard.text("KMSMasterKeyID")
		standard.finish()
		rule.finish()
	}
	encryption.finish()
	return bucket
}

// key reads an AWS::KMS::Key. The statements of the functions' roles determine who may use the key. The key's own
// policy must not deny an action that those statements allow.
func (b *builder) key(id string, o *object) Key {
	o.ignore("Description", "EnableKeyRotation")
	b.keyPolicy(id, o.object("KeyPolicy"))
	return Key{
		LogicalID: id, Alias: b.ref(kindKey, id), ARN: b.arn(kindKey, id),
		Spec: o.text("KeySpec"), Usage: o.text("KeyUsage"),
	}
}

func (b *builder) secret(id string, o *object) Secret {
	o.ignore("Description")
	generate := o.object("GenerateSecretString")
	s := Secret{
		LogicalID:          id,
		Name:               b.values.name(id),
		ARN:                b.ref(kindSecret, id),
		StringKey:          generate.text("GenerateStringKey"),
		Length:             generate.number("PasswordLength", 1, 4096, 32),
		StringTemplate:     generate.text("SecretStringTemplate"),
		ExcludePunctuation: generate.flag("ExcludePunctuation"),
	}
	generate.finish()
	if generate.node == nil {
		o.failf(o.line(), "GenerateSecretString is missing: a secret's value never stands in the template")
	}
	if (s.StringTemplate == "") != (s.StringKey == "") {
		o.failf(generate.line(), "SecretStringTemplate and GenerateStringKey go together")
	}
	return s
}

func parameter(id string, o *object) Parameter {
	o.oneOf("Type", "String")
	return Parameter{LogicalID: id, Name: o.required("Name"), Value: o.required("Value")}
}
