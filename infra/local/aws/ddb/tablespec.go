package ddb

import (
	"regexp"
	"strings"
)

const (
	projectAll      = "ALL"
	projectKeysOnly = "KEYS_ONLY"
	projectInclude  = "INCLUDE"

	maxKeyName   = 255
	maxIndexes   = 20
	maxProjected = 20 // maximum number of an index's non-key attributes
)

var (
	namePattern  = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)
	tablePattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,255}$`) // less strict than namePattern, for looking up tables
)

// tableSpec is the part of CreateTable's input that is stored, journalled and returned by DescribeTable.
type tableSpec struct {
	TableName                 string
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keyElement
	GlobalSecondaryIndexes    []indexSpec `json:",omitempty"`
	BillingMode               string
	SSESpecification          *sseSpec `json:",omitempty"`
	DeletionProtectionEnabled bool
}

type sseSpec struct {
	Enabled        bool
	SSEType        string `json:",omitempty"`
	KMSMasterKeyId string `json:",omitempty"` //nolint:revive // AWS's name of the member
}

func (spec *tableSpec) check() error {
	if !namePattern.MatchString(spec.TableName) {
		return invalidf("Invalid table name %q: at least 3 characters long and at most 255 characters long, of a-z, A-Z, "+
			"0-9, '_', '-' and '.'", spec.TableName)
	}
	types := map[string]string{}
	for _, attribute := range spec.AttributeDefinitions {
		if !(value{kind: attribute.AttributeType}).isScalar() {
			return invalidf("1 validation error detected: Value '%s' at 'attributeDefinitions.member.attributeType' failed to "+
				"satisfy constraint: Member must satisfy enum value set: [B, N, S]", attribute.AttributeType)
		}
		if n := len(attribute.AttributeName); n < 1 || n > maxKeyName {
			return invalidf("1 validation error detected: Value '%s' at 'attributeDefinitions.member.attributeName' failed to "+
				"satisfy constraint: Member must have length between 1 and %d", attribute.AttributeName, maxKeyName)
		}
		if types[attribute.AttributeName] != "" {
			return invalidf("Cannot have two attributes with the same name: %s", attribute.AttributeName)
		}
		types[attribute.AttributeName] = attribute.AttributeType
	}
	used := map[string]bool{}
	if err := checkKeySchema(spec.KeySchema, types, used); err != nil {
		return err
	}
	if err := spec.checkIndexes(types, used); err != nil {
		return err
	}
	if len(used) != len(types) {
		return invalidf("One or more parameter values were invalid: Number of attributes in KeySchema does not exactly " +
			"match number of attributes defined in AttributeDefinitions")
	}
	return nil
}

func (spec *tableSpec) checkIndexes(types map[string]string, used map[string]bool) error {
	if len(spec.GlobalSecondaryIndexes) > maxIndexes {
		return invalidf("One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit "+
			"of %d", maxIndexes)
	}
	if spec.GlobalSecondaryIndexes != nil && len(spec.GlobalSecondaryIndexes) == 0 {
		return invalidf("One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty")
	}
	names := map[string]bool{}
	for _, indexed := range spec.GlobalSecondaryIndexes {
		if !namePattern.MatchString(indexed.IndexName) {
			return invalidf("Invalid index name %q: at least 3 characters long and at most 255 characters long, of a-z, A-Z, "+
				"0-9, '_', '-' and '.'", indexed.IndexName)
		}
		if names[indexed.IndexName] {
			return invalidf("One or more parameter values were invalid: Duplicate index name: %s", indexed.IndexName)
		}
		names[indexed.IndexName] = true
		if indexed.ProvisionedThroughput != nil {
			return invalidf("One or more parameter values were invalid: ProvisionedThroughput should not be specified for "+
				"index: %s when BillingMode is PAY_PER_REQUEST", indexed.IndexName)
		}
		if err := checkKeySchema(indexed.KeySchema, types, used); err != nil {
			return err
		}
		if err := indexed.Projection.check(); err != nil {
			return err
		}
	}
	return nil
}

func (p projectionSpec) check() error {
	switch p.ProjectionType {
	case projectInclude:
		if len(p.NonKeyAttributes) == 0 {
			return invalidf("One or more parameter values were invalid: ProjectionType is INCLUDE, but NonKeyAttributes is " +
				"not specified")
		}
		if n := len(p.NonKeyAttributes); n > maxProjected {
			return invalidf("1 validation error detected: Value at 'nonKeyAttributes' failed to satisfy constraint: Member "+
				"must have length less than or equal to %d, and it has %d", maxProjected, n)
		}
	case projectAll, projectKeysOnly:
		if len(p.NonKeyAttributes) > 0 {
			return invalidf("One or more parameter values were invalid: ProjectionType is %s, but NonKeyAttributes is specified",
				p.ProjectionType)
		}
	case "":
		return invalidf("One or more parameter values were invalid: Unknown ProjectionType: null")
	default:
		return invalidf("One or more parameter values were invalid: Unknown ProjectionType: %s", p.ProjectionType)
	}
	return nil
}

// checkKeySchema validates a key schema and adds its attributes to used.
func checkKeySchema(schema []keyElement, types map[string]string, used map[string]bool) error {
	if len(schema) == 0 || len(schema) > 2 {
		return invalidf("1 validation error detected: Value at 'keySchema' failed to satisfy constraint: Member must have " +
			"length between 1 and 2")
	}
	if schema[0].KeyType != "HASH" {
		return invalidf("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	if len(schema) == 2 && schema[1].KeyType != "RANGE" {
		return invalidf("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	}
	if len(schema) == 2 && schema[0].AttributeName == schema[1].AttributeName {
		return invalidf("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	for _, element := range schema {
		if types[element.AttributeName] == "" {
			names := make([]string, 0, len(types))
			for name := range types {
				names = append(names, name)
			}
			return invalidf("One or more parameter values were invalid: Some index key attributes are not defined in "+
				"AttributeDefinitions. Keys: [%s], AttributeDefinitions: [%s]",
				element.AttributeName, strings.Join(names, ", "))
		}
		used[element.AttributeName] = true
	}
	return nil
}
