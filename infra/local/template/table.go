package template

// table reads an AWS::DynamoDB::Table. Billing, encryption, backup and deletion protection are ignored, because they
// apply only on AWS.
func (b *builder) table(id string, o *object) Table {
	o.ignore("BillingMode", "DeletionProtectionEnabled", "SSESpecification", "PointInTimeRecoverySpecification")
	t := Table{LogicalID: id, Name: b.ref(kindTable, id), ARN: b.arn(kindTable, id), Attributes: map[string]string{}}
	for _, a := range o.objects("AttributeDefinitions") {
		t.Attributes[a.required("AttributeName")] = a.oneOf("AttributeType", "S", "N", "B")
		a.finish()
	}
	t.Key = keySchema(o, t.Attributes)
	for _, g := range o.objects("GlobalSecondaryIndexes") {
		index := Index{Name: g.required("IndexName"), Key: keySchema(g, t.Attributes)}
		projection := g.object("Projection")
		index.Projection = projection.oneOf("ProjectionType", "KEYS_ONLY", "ALL")
		projection.finish()
		g.finish()
		t.Indexes = append(t.Indexes, index)
	}
	ttl := o.object("TimeToLiveSpecification")
	if ttl.node != nil {
		t.TTLAttribute = ttl.required("AttributeName")
		ttl.oneOf("Enabled", "true")
		ttl.finish()
	}
	return t
}

// keySchema reads a KeySchema and checks that its attributes are defined.
func keySchema(o *object, defined map[string]string) KeySchema {
	var k KeySchema
	for _, element := range o.objects("KeySchema") {
		name := element.required("AttributeName")
		if element.oneOf("KeyType", "HASH", "RANGE") == "HASH" {
			k.Hash = name
		} else {
			k.Range = name
		}
		if defined[name] == "" {
			o.failf(element.line(), "the key attribute %q is not among the AttributeDefinitions", name)
		}
		element.finish()
	}
	if k.Hash == "" {
		o.failf(o.line(), "%sKeySchema has no HASH key", o.where)
	}
	return k
}
