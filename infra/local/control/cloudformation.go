package control

import (
	"context"
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const namespace = "http://cloudformation.amazonaws.com/doc/2010-05-15/"

// Stack describes the stack that CloudFormation serves.
type Stack struct {
	Name      string
	ID        string // stack ID, an ARN
	Created   time.Time
	Outputs   map[string]string
	Resources map[string]Resource // resources by logical ID
}

// Resource is a resource of a stack.
type Resource struct {
	Type string // such as AWS::SQS::Queue
	// Physical returns the physical ID. A key's ID is unknown until the key exists.
	Physical func(ctx context.Context) (string, error)
}

// CloudFormation serves DescribeStacks and DescribeStackResource for a single stack, which never changes.
type CloudFormation struct {
	stateless

	Stack Stack
}

// Name implements wire.Service.
func (*CloudFormation) Name() string { return "cloudformation" }

// Operation implements wire.Service. Operation parses r's form; Serve can still read it afterwards.
func (*CloudFormation) Operation(r *http.Request) string { return r.PostFormValue("Action") }

// Serve implements wire.Service.
func (c *CloudFormation) Serve(w http.ResponseWriter, r *http.Request, call wire.Call) {
	var result any
	err := wire.Fail("InvalidAction", "operation %q is not part of the embedded AWS", call.Operation)
	switch call.Operation {
	case "DescribeStacks":
		result, err = c.describeStacks(r.PostFormValue("StackName"))
	case "DescribeStackResource":
		result, err = c.describeResource(r.Context(), r.PostFormValue("StackName"), r.PostFormValue("LogicalResourceId"))
	}
	if err != nil {
		writeXMLError(w, err)
		return
	}
	writeXML(w, http.StatusOK, response{
		XMLName: xml.Name{Space: namespace, Local: call.Operation + "Response"}, Result: result, Request: uuid.NewString(),
	})
}

type response struct {
	XMLName xml.Name
	Result  any
	Request string `xml:"ResponseMetadata>RequestId"`
}

type output struct {
	Key   string `xml:"OutputKey"`
	Value string `xml:"OutputValue"`
}

type describedStacks struct {
	XMLName xml.Name  `xml:"DescribeStacksResult"`
	Name    string    `xml:"Stacks>member>StackName"`
	ID      string    `xml:"Stacks>member>StackId"`
	Created time.Time `xml:"Stacks>member>CreationTime"`
	Status  string    `xml:"Stacks>member>StackStatus"`
	Outputs []output  `xml:"Stacks>member>Outputs>member"`
}

type describedResource struct {
	XMLName  xml.Name  `xml:"DescribeStackResourceResult"`
	Stack    string    `xml:"StackResourceDetail>StackName"`
	Logical  string    `xml:"StackResourceDetail>LogicalResourceId"`
	Physical string    `xml:"StackResourceDetail>PhysicalResourceId"`
	Type     string    `xml:"StackResourceDetail>ResourceType"`
	Updated  time.Time `xml:"StackResourceDetail>LastUpdatedTimestamp"`
	Status   string    `xml:"StackResourceDetail>ResourceStatus"`
}

func (c *CloudFormation) describeStacks(name string) (any, error) {
	if name != "" && name != c.Stack.Name && name != c.Stack.ID {
		return nil, wire.Fail("ValidationError", "Stack with id %s does not exist", name)
	}
	found := describedStacks{
		Name: c.Stack.Name, ID: c.Stack.ID, Created: c.Stack.Created.UTC(), Status: "CREATE_COMPLETE",
	}
	for _, key := range slices.Sorted(maps.Keys(c.Stack.Outputs)) {
		found.Outputs = append(found.Outputs, output{key, c.Stack.Outputs[key]})
	}
	return found, nil
}

func (c *CloudFormation) describeResource(ctx context.Context, stack, logical string) (any, error) {
	if stack == "" || logical == "" {
		return nil, wire.Fail("ValidationError",
			"1 validation error detected: StackName and LogicalResourceId must not be null")
	}
	if stack != c.Stack.Name && stack != c.Stack.ID {
		return nil, wire.Fail("ValidationError", "Stack '%s' does not exist", stack)
	}
	found, ok := c.Stack.Resources[logical]
	if !ok {
		return nil, wire.Fail("ValidationError", "Resource %s does not exist for stack %s", logical, stack)
	}
	physical, err := found.Physical(ctx)
	if err != nil {
		return nil, err
	}
	return describedResource{
		Stack: c.Stack.Name, Logical: logical, Physical: physical, Type: found.Type, Updated: c.Stack.Created.UTC(),
		Status: "CREATE_COMPLETE",
	}, nil
}
