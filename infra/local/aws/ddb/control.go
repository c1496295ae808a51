package ddb

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"recordbridge/infra/local/aws/wire"
)

const billingOnDemand = "PAY_PER_REQUEST"

type tableInput struct {
	tableSpec

	// The following parameters are not supported.
	ProvisionedThroughput *json.RawMessage
	StreamSpecification   struct{ StreamEnabled bool }
	LocalSecondaryIndexes []json.RawMessage
}

type tableDescription struct {
	tableSpec

	TableArn               string
	TableStatus            string
	CreationDateTime       float64 // Unix time in seconds
	ItemCount              int
	BillingModeSummary     billingSummary
	GlobalSecondaryIndexes []indexDescription `json:",omitempty"`
	SSEDescription         *sseDescription    `json:",omitempty"`
}

type billingSummary struct{ BillingMode string }

type sseDescription struct{ Status, SSEType string }

type indexDescription struct {
	indexSpec

	IndexStatus string
	IndexArn    string
	ItemCount   int
}

type tableReply struct{ TableDescription tableDescription }

type describeTableReply struct{ Table tableDescription }

type tableName struct{ TableName string }

// tableOperations implements the operations on tables and their time to live.
type tableOperations struct{ *ledger }

func (o tableOperations) createTable(in *tableInput) (any, error) {
	if err := absent(map[string]bool{
		"LocalSecondaryIndexes":             len(in.LocalSecondaryIndexes) > 0,
		"StreamSpecification":               in.StreamSpecification.StreamEnabled,
		"ProvisionedThroughput":             in.ProvisionedThroughput != nil,
		"A BillingMode but PAY_PER_REQUEST": in.BillingMode != billingOnDemand,
	}); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, exists := o.tables[in.TableName]; exists {
		return nil, wire.Fail("ResourceInUseException", "Table already exists: %s", in.TableName)
	}
	record := journalRecord{Table: &tableRecord{Spec: in.tableSpec, Created: time.Now().UTC()}}
	if err := o.commit(record); err != nil {
		return nil, err
	}
	description := o.tables[in.TableName].describe()
	description.TableStatus = "CREATING"
	return tableReply{description}, nil
}

func (o tableOperations) describeTable(in *tableName) (any, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	t, err := o.controlled(in.TableName)
	if err != nil {
		return nil, err
	}
	return describeTableReply{t.describe()}, nil
}

func (t *table) describe() tableDescription {
	out := tableDescription{
		tableSpec:        t.spec,
		TableArn:         arnPrefix + t.spec.TableName,
		TableStatus:      "ACTIVE",
		CreationDateTime: float64(t.created.UnixMilli()) / 1000,
		ItemCount:        t.rows.count,

		BillingModeSummary: billingSummary{t.spec.BillingMode},
	}
	if t.spec.SSESpecification != nil && t.spec.SSESpecification.Enabled {
		out.SSEDescription = &sseDescription{Status: "ENABLED", SSEType: "KMS"}
	}
	for _, x := range t.indexes {
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, indexDescription{
			indexSpec: x.spec, IndexStatus: "ACTIVE", IndexArn: out.TableArn + "/index/" + x.spec.IndexName,
			ItemCount: x.rows.count,
		})
	}
	return out
}

type ttlSpec struct {
	AttributeName string
	Enabled       bool
}

type ttlInput struct {
	TableName               string
	TimeToLiveSpecification ttlSpec
}

type ttlReply struct{ TimeToLiveSpecification ttlSpec }

type ttlDescriptionReply struct{ TimeToLiveDescription ttlDescription }

type ttlDescription struct {
	TimeToLiveStatus string
	AttributeName    string `json:",omitempty"`
}

func (o tableOperations) updateTimeToLive(in *ttlInput) (any, error) {
	spec := in.TimeToLiveSpecification
	if spec.AttributeName == "" {
		return nil, invalidf("TimeToLiveSpecification.AttributeName is required")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t, err := o.controlled(in.TableName)
	switch {
	case err != nil:
		return nil, err
	case spec.Enabled && t.ttlAttribute != "":
		return nil, invalidf("TimeToLive is already enabled")
	case !spec.Enabled && t.ttlAttribute == "":
		return nil, invalidf("TimeToLive is already disabled")
	case !spec.Enabled && t.ttlAttribute != spec.AttributeName:
		return nil, invalidf("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.ttlAttribute)
	}
	record := ttlRecord{Table: t.spec.TableName}
	if spec.Enabled {
		record.Attribute = spec.AttributeName
	}
	if err = o.commit(journalRecord{TTL: &record}); err != nil {
		return nil, err
	}
	return ttlReply{spec}, nil
}

func (o tableOperations) describeTimeToLive(in *tableName) (any, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	t, err := o.controlled(in.TableName)
	if err != nil {
		return nil, err
	}
	if t.ttlAttribute == "" {
		return ttlDescriptionReply{ttlDescription{TimeToLiveStatus: "DISABLED"}}, nil
	}
	return ttlDescriptionReply{ttlDescription{TimeToLiveStatus: "ENABLED", AttributeName: t.ttlAttribute}}, nil
}

const codeNoTable = "ResourceNotFoundException"

const arnPrefix = "arn:aws:dynamodb:us-east-1:000000000000:table/"

// table returns the table with the given name or ARN, or the error that an item operation would return.
func (l *ledger) table(name string) (*table, error) {
	bare := strings.TrimPrefix(name, arnPrefix)
	if t, ok := l.tables[bare]; ok {
		return t, nil
	}
	if name == "" {
		return nil, invalidf("1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member " +
			"must not be null")
	}
	if !tablePattern.MatchString(bare) {
		return nil, invalidf("1 validation error detected: Value '%s' at 'tableName' failed to satisfy constraint: Member "+
			"must satisfy regular expression pattern: [a-zA-Z0-9_.-]+", name)
	}
	return nil, wire.Fail(codeNoTable, "Requested resource not found")
}

// controlled is like table but returns the error of control operations, which includes the table's name.
func (o tableOperations) controlled(name string) (*table, error) {
	t, err := o.table(name)
	if failure, ok := errors.AsType[*wire.Error](err); ok && failure.Code == codeNoTable {
		return nil, wire.Fail(codeNoTable, "Requested resource not found: Table: %s not found", name)
	}
	return t, err
}
