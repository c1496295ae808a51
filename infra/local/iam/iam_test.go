package iam_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/template"
)

func TestAuthorityRestrictsFunctionsButNotOperator(t *testing.T) {
	t.Parallel()
	cloud, authority := start(t, world())
	if err := put("visits", "a")(t.Context(), cloud.Config("operator")); err != nil {
		t.Errorf("the administrator was refused: %v", err)
	}
	for _, caller := range []string{worker, "IdleFunction", "GoneFunction"} {
		for name, do := range map[string]step{
			"dynamodb": put("visits", "a"), "s3": putObject("plain", "k"), "kms": seal(filesKey, nil), "ssm": parameter,
		} {
			if err := do(t.Context(), cloud.Config(caller)); err == nil {
				t.Errorf("%s has no statement and was let through to %s", caller, name)
			}
		}
	}
	if got, want := len(authority.Denials()), 3*4; got != want {
		t.Errorf("got %d denials, want %d", got, want)
	}
}

func TestAuthorityDeniesRequestWithMisleadingKey(t *testing.T) {
	t.Parallel()
	own := allow("dynamodb:*", visitsARN)
	own.Condition = map[string]map[string][]string{"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": {"A"}}}
	authority, err := iam.New(world(own))
	if err != nil {
		t.Fatal(err)
	}
	handle := authority.Middleware()(func(_ http.ResponseWriter, _ *http.Request,
		c wire.Call,
	) {
		t.Errorf("%s was let through", c.Operation)
	})
	for operation, body := range map[string]string{
		"PutItem": `"Key":{"pk":{"S":"A"}},"Item":{"pk":{"S":"B"}}`,
		"Query": `"Key":{"pk":{"S":"A"}},"KeyConditionExpression":"pk = :p",` +
			`"ExpressionAttributeValues":{":p":{"S":"B"}}`,
		"GetItem":      `"Key":{"sk":{"S":"A"}}`,
		"DeleteItem":   `"Key":{"pk":"A"}`,
		"UpdateItem":   `"Key":{"pk":{"S":"A","N":"1"}}`,
		"BatchGetItem": `"RequestItems":{"visits":"all"}`,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
			strings.NewReader(`{"TableName":"visits",`+body+`}`))
		handle(httptest.NewRecorder(), r, wire.Call{Service: "dynamodb", Operation: operation, Caller: worker})
	}
}

// ask reports whether a function with the given statements may send messages to the named queue.
func ask(t *testing.T, queue string, statements ...template.Statement) bool {
	t.Helper()
	authority, err := iam.New(world(statements...))
	if err != nil {
		t.Fatal(err)
	}
	let := false
	handle := authority.Middleware()(func(http.ResponseWriter, *http.Request, wire.Call) { let = true })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
		strings.NewReader(`{"QueueUrl":"http://127.0.0.1/0/`+queue+`","MessageBody":"x"}`))
	handle(httptest.NewRecorder(), r, wire.Call{Service: "sqs", Operation: "SendMessage", Caller: worker})
	return let
}

func TestPatternsSupportWildcards(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		action, resource string
		want             bool
	}{
		"exactly":                      {"sqs:SendMessage", jobsARN, true},
		"another spelling":             {"SQS:sendmessage", jobsARN, true},
		"another case of the resource": {"sqs:SendMessage", strings.Replace(jobsARN, "jobs", "Jobs", 1), false},
		"all actions":                  {"sqs:*", jobsARN, true},
		"some actions":                 {"sqs:Send*", jobsARN, true},
		"other actions":                {"sqs:Receive*", jobsARN, false},
		"another action":               {"sqs:SendMessageBatch", jobsARN, false},
		"another service":              {"s3:*", jobsARN, false},
		"everything":                   {"*:*", "*", true},
		"a beginning":                  {"sqs:SendMessage", "arn:aws:sqs" + here + "j*", true},
		"an end":                       {"sqs:SendMessage", "*bs", true},
		"two stars":                    {"sqs:SendMessage", "arn:*:sqs:*:jobs", true},
		"a star for nothing":           {"sqs:SendMessage", jobsARN + "*", true},
		"too short":                    {"sqs:SendMessage", "arn:aws:sqs" + here + "job", false},
		"too long":                     {"sqs:SendMessage", jobsARN + "s", false},
		"question marks":               {"sqs:SendMessage", "arn:aws:sqs" + here + "????", true},
		"too many question marks":      {"sqs:SendMessage", "arn:aws:sqs" + here + "?????", false},
		"a wrong end":                  {"sqs:SendMessage", "arn:*:x", false},
		"an end that comes twice":      {"sqs:SendMessage", "arn:*s:*s", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, "jobs", allow(tt.action, tt.resource)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestConditionsAreEvaluatedAgainstRequest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		condition map[string]map[string][]string
		want      bool
	}{
		"a key that the request has not": {map[string]map[string][]string{"StringEquals": {"kms:ViaService": {"a"}}}, false},
		"like a key that it has not":     {map[string]map[string][]string{"StringLike": {"kms:ViaService": {"*"}}}, false},
		"all values of a missing key": {
			map[string]map[string][]string{"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": {"a"}}}, true,
		},
		"two operators, one of which fails": {
			map[string]map[string][]string{
				"ForAllValues:StringLike": {"dynamodb:LeadingKeys": {"a"}},
				"StringLike":              {"kms:ViaService": {"*"}},
			}, false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			statement := allow("sqs:SendMessage", jobsARN)
			statement.Condition = tt.condition
			if got := ask(t, "jobs", statement); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if !ask(t, "jobs", statement, allow("sqs:SendMessage", jobsARN)) {
				t.Error("a condition of one statement stands in the way of another")
			}
		})
	}
}

func TestNewRejectsUnsupportedStatement(t *testing.T) {
	t.Parallel()
	on := func(operator, key string, values ...string) template.Statement {
		s := allow("sqs:SendMessage", jobsARN)
		s.Condition = map[string]map[string][]string{operator: {key: values}}
		return s
	}
	tests := map[string]struct {
		statement template.Statement
		want      string
	}{
		"an unknown operator": {
			on("DateGreaterThan", "kms:ViaService", "a"),
			"DateGreaterThan on kms:ViaService: this operator",
		},
		"an operator that may miss":  {on("StringEqualsIfExists", "kms:ViaService", "a"), "this operator"},
		"an unknown key":             {on("StringEquals", "aws:SourceIp", "a"), "aws:SourceIp: this key"},
		"a context without name":     {on("StringEquals", "kms:EncryptionContext:", "a"), "this key"},
		"one value of several":       {on("StringEquals", "dynamodb:LeadingKeys", "a"), "ForAllValues goes with"},
		"several values of one":      {on("ForAllValues:StringEquals", "kms:ViaService", "a"), "ForAllValues goes with"},
		"no value":                   {on("StringEquals", "kms:ViaService"), "needs a value"},
		"a policy variable":          {on("StringEquals", "kms:ViaService", "${aws:username}"), "policy variables"},
		"a variable in the resource": {allow("s3:GetObject", plainARN+"/${aws:username}/*"), "policy variables"},
		"any of several values":      {on("ForAnyValue:StringEquals", "dynamodb:LeadingKeys", "a"), "this operator"},
		"a truth":                    {on("Bool", "kms:ViaService", "true"), "this operator"},
		"an action without service":  {allow("*", "*"), "service:Name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := iam.New(world(tt.statement))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), worker) {
				t.Errorf("got %v, want %q of %s", err, tt.want, worker)
			}
		})
	}
}

func TestAuthorityDeniesMalformedRequest(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"dynamodb", "sqs", "kms", "secretsmanager", "ssm", "s3control"} {
		authority, err := iam.New(world(allow("sqs:*", jobsARN), allow("dynamodb:*", visitsARN)))
		if err != nil {
			t.Fatal(err)
		}
		handle := authority.Middleware()(func(http.ResponseWriter, *http.Request,
			wire.Call,
		) {
			t.Errorf("%s let it through", service)
		})
		answer := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"QueueUrl":`))
		handle(answer, r, wire.Call{Service: service, Operation: "Any", Caller: worker})
		if !strings.Contains(answer.Body.String(), "AccessDenied") {
			t.Errorf("%s: got %s, want a refusal", service, answer.Body)
		}
	}
}

func TestAuthorityReportsUsedAndUnusedGrants(t *testing.T) {
	t.Parallel()
	twice := template.Statement{
		Sid: "Twice", Actions: []string{"dynamodb:PutItem", "dynamodb:GetItem"},
		Resources: []string{visitsARN, notesARN},
	}
	cloud, authority := start(t, world(twice, allow("dynamodb:PutItem", "*")))
	var clients sync.WaitGroup
	for range 10 {
		clients.Go(func() {
			if err := put("visits", "a")(context.Background(), cloud.Config(worker)); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
	wantAllowed(t, cloud, put("notes", "a"))
	wantDenied(t, cloud, authority, query(nil, "pk = :p", "a"), "dynamodb:Query", visitsARN)
	wantDenied(t, cloud, authority, query(nil, "pk = :p", "a"), "dynamodb:Query", visitsARN)

	grant := func(action, resource string) iam.Grant {
		return iam.Grant{Function: worker, Statement: 0, Sid: "Twice", Action: action, Resource: resource}
	}
	uses := []iam.Use{
		{Grant: grant("dynamodb:PutItem", notesARN), Count: 1},
		{Grant: grant("dynamodb:PutItem", visitsARN), Count: 10},
	}
	if diff := cmp.Diff(uses, authority.Uses()); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
	unused := []iam.Grant{
		grant("dynamodb:GetItem", notesARN), grant("dynamodb:GetItem", visitsARN),
		// unused, because the first statement was sufficient
		{Function: worker, Statement: 1, Sid: "dynamodb:PutItem", Action: "dynamodb:PutItem", Resource: "*"},
	}
	if diff := cmp.Diff(unused, authority.Unused()); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
	denials := []iam.Denial{{Function: worker, Action: "dynamodb:Query", Resource: visitsARN}}
	if diff := cmp.Diff(denials, authority.Denials()); diff != "" {
		t.Errorf("denials (-want +got):\n%s", diff)
	}
}

// TestAuthorityRecordsAccessedRowKinds uses a statement that names two kinds of rows. Only the kind of row that a call
// accesses counts as used.
func TestAuthorityRecordsAccessedRowKinds(t *testing.T) {
	t.Parallel()
	cloud, authority := start(t, world(template.Statement{
		Sid: "Rows", Actions: []string{"dynamodb:PutItem"}, Resources: []string{visitsARN},
		Condition: map[string]map[string][]string{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": {
			"A#*", "test#*#B#*",
			"live#*#B#*", "live#*#C#*",
		}}},
	}))
	wantAllowed(t, cloud, put("visits", "live#1#B#2"))
	grant := iam.Grant{Function: worker, Sid: "Rows", Action: "dynamodb:PutItem", Resource: visitsARN, Rows: "test#*#B#*"}
	if diff := cmp.Diff([]iam.Use{{Grant: grant, Count: 1}}, authority.Uses()); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
	unused := []iam.Grant{grant, grant}
	unused[0].Rows, unused[1].Rows = "A#*", "test#*#C#*"
	if diff := cmp.Diff(unused, authority.Unused()); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
}

func TestAuthorityWithoutRemovesSingleGrant(t *testing.T) {
	t.Parallel()
	declared := world(
		allow("s3:GetObject", plainARN+"/*"),
		template.Statement{
			Sid: "Square", Actions: []string{"dynamodb:PutItem", "dynamodb:GetItem"},
			Resources: []string{visitsARN, notesARN},
		},
		allow("ssm:GetParameter", paramARN),
		template.Statement{
			Sid: "Rows", Actions: []string{"dynamodb:PutItem", "dynamodb:DeleteItem"}, Resources: []string{visitsARN},
			Condition: map[string]map[string][]string{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": {
				"A#*", "test#*#B#*",
				"live#*#B#*",
			}}},
		},
	)
	type permission struct{ function, action, resource, rows string }
	permissions := func(functions []template.Function) map[permission]bool {
		all := map[permission]bool{}
		for _, g := range iam.Grants(functions) {
			all[permission{g.Function, g.Action, g.Resource, g.Rows}] = true
		}
		return all
	}
	before := permissions(declared.Functions)
	if len(before) != 10 {
		t.Fatalf("got %d permissions, want 10", len(before))
	}
	for _, gone := range iam.Grants(declared.Functions) {
		want := permissions(declared.Functions)
		delete(want, permission{gone.Function, gone.Action, gone.Resource, gone.Rows})
		if diff := cmp.Diff(want, permissions(iam.Without(declared.Functions, gone))); diff != "" {
			t.Errorf("without %v (-want +got):\n%s", gone, diff)
		}
	}
	if diff := cmp.Diff(before, permissions(declared.Functions)); diff != "" {
		t.Errorf("the original changed:\n%s", diff)
	}
	if got := iam.Without(declared.Functions, iam.Grant{Function: worker, Statement: 7}); len(iam.Grants(got)) != 10 {
		t.Error("a grant that does not exist took something away")
	}
}
