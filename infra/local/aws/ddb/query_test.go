package ddb_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

// tenTasks puts a/00 … a/09; all in org o, the odd ones due at 1, 3, … 9 in shard s.
func tenTasks(tb testing.TB, client *dynamodb.Client) {
	tb.Helper()
	for i := range 10 {
		it := item{
			"pk": str("a"), "sk": str(fmt.Sprintf("%02d", i)), "org": str("o"), "created": str(fmt.Sprintf("2026-%02d", i)),
			"note": str("n"), "secret": num(strconv.Itoa(i)),
		}
		if i%2 == 1 {
			it["shard"], it["due"] = str("s"), num(strconv.Itoa(i))
		}
		put(tb, client, it)
	}
}

func sortKeys(items []item) []string {
	out := make([]string, 0, len(items))
	for _, it := range items {
		out = append(out, it["sk"].(*types.AttributeValueMemberS).Value)
	}
	return out
}

func queryInput(condition string, values item) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{TableName: aws.String(table), KeyConditionExpression: &condition, ExpressionAttributeValues: values}
}

func TestKeyConditionsSelectASpanOfOnePartition(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tenTasks(t, client)
	put(t, client, key("b", "00"))
	tests := []struct {
		condition string
		values    item
		want      []string
	}{
		{"pk = :p", item{":p": str("b")}, []string{"00"}},
		{"pk = :p", item{":p": str("nobody")}, []string{}},
		{"pk = :p AND sk = :a", item{":p": str("a"), ":a": str("03")}, []string{"03"}},
		{"sk = :a AND pk = :p", item{":p": str("a"), ":a": str("03")}, []string{"03"}},
		{":a = sk AND :p = pk", item{":p": str("a"), ":a": str("03")}, []string{"03"}},
		{"(pk = :p) AND (sk < :a)", item{":p": str("a"), ":a": str("02")}, []string{"00", "01"}},
		{"pk = :p AND :a > sk", item{":p": str("a"), ":a": str("02")}, []string{"00", "01"}},
		{"pk = :p AND sk <= :a", item{":p": str("a"), ":a": str("02")}, []string{"00", "01", "02"}},
		{"pk = :p AND sk > :a", item{":p": str("a"), ":a": str("07")}, []string{"08", "09"}},
		{"pk = :p AND sk >= :a", item{":p": str("a"), ":a": str("07")}, []string{"07", "08", "09"}},
		{"pk = :p AND sk BETWEEN :a AND :b", item{":p": str("a"), ":a": str("02"), ":b": str("04")}, []string{"02", "03", "04"}},
		{"pk = :p AND begins_with(sk, :a)", item{":p": str("a"), ":a": str("0")}, []string{"00", "01", "02", "03", "04", "05", "06", "07", "08", "09"}},
		{"pk = :p AND begins_with(sk, :a)", item{":p": str("a"), ":a": str("05")}, []string{"05"}},
		{"pk = :p AND begins_with(sk, :a)", item{":p": str("a"), ":a": str("1")}, []string{}},
	}
	for _, test := range tests {
		t.Run(test.condition, func(t *testing.T) {
			t.Parallel()
			out, err := client.Query(t.Context(), queryInput(test.condition, test.values))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, sortKeys(out.Items)); diff != "" {
				t.Errorf("rows differ (-want +got):\n%s", diff)
			}
			if got, want := int(out.Count), len(test.want); got != want {
				t.Errorf("got count %d, want %d", got, want)
			}
		})
	}
}

func TestAQueryMayBeFilteredProjectedCountedAndReversed(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tenTasks(t, client)
	in := queryInput("pk = :p", item{":p": str("a"), ":five": num("5")})
	in.FilterExpression = aws.String("secret > :five")
	in.ProjectionExpression = aws.String("sk, note")
	in.ScanIndexForward = aws.Bool(false)
	out, err := client.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"09", "08", "07", "06"}, sortKeys(out.Items)); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
	wantItem(t, out.Items[0], item{"sk": str("09"), "note": str("n")})
	if out.Count != 4 || out.ScannedCount != 10 {
		t.Errorf("got count %d of %d, want 4 of 10", out.Count, out.ScannedCount)
	}
	in.ProjectionExpression, in.Select = nil, types.SelectCount
	out, err = client.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if out.Count != 4 || out.Items != nil {
		t.Errorf("got count %d and items %v, want 4 and none", out.Count, out.Items)
	}
}

func TestAnIndexHoldsWhatItsProjectionSaysOfItemsThatHaveItsKeys(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tenTasks(t, client)
	tests := map[string]struct {
		condition string
		values    item
		want      []string
		first     item
	}{
		"byDue": {
			"#s = :s AND due <= :d",
			item{":s": str("s"), ":d": num("7")},
			[]string{"01", "03", "05", "07"},
			item{"pk": str("a"), "sk": str("01"), "shard": str("s"), "due": num("1")},
		},
		"byOrg": {
			"org = :o AND created > :c",
			item{":o": str("o"), ":c": str("2026-07")},
			[]string{"08", "09"},
			item{"pk": str("a"), "sk": str("08"), "org": str("o"), "created": str("2026-08"), "note": str("n")},
		},
		"whole": {
			"org = :o",
			item{":o": str("o")},
			[]string{"00", "01", "02", "03", "04", "05", "06", "07", "08", "09"},
			item{"pk": str("a"), "sk": str("00"), "org": str("o"), "created": str("2026-00"), "note": str("n"), "secret": num("0")},
		},
	}
	for index, test := range tests {
		t.Run(index, func(t *testing.T) {
			t.Parallel()
			in := queryInput(test.condition, test.values)
			in.IndexName = &index
			if index == "byDue" {
				in.ExpressionAttributeNames = map[string]string{"#s": "shard"}
			}
			out, err := client.Query(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			got := sortKeys(out.Items)
			if index == "whole" {
				slices.Sort(got) // an index without a sort key has no order to rely on
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Fatalf("rows differ (-want +got):\n%s", diff)
			}
			for _, it := range out.Items {
				if it["sk"].(*types.AttributeValueMemberS).Value == test.want[0] {
					wantItem(t, it, test.first)
				}
			}
		})
	}
}

func TestAnIndexFollowsUpdatesAndDeletes(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tenTasks(t, client)
	shard := map[string]string{"#s": "shard"}
	update := func(sk, expression string, names map[string]string, values item) {
		if _, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String(table), Key: key("a", sk), UpdateExpression: &expression,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}); err != nil {
			t.Fatal(err)
		}
	}
	update("01", "SET due = :d", nil, item{":d": num("100.5")})
	update("03", "REMOVE due", nil, nil)
	update("04", "SET due = :d, #s = :s", shard, item{":d": num("-4"), ":s": str("s")})
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a", "09")}); err != nil {
		t.Fatal(err)
	}
	in := queryInput("#s = :s", item{":s": str("s")})
	in.IndexName = aws.String("byDue")
	in.ExpressionAttributeNames = shard
	out, err := client.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"04", "05", "07", "01"}, sortKeys(out.Items)); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

func TestPagingReadsEveryRowOnceInBothDirections(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tenTasks(t, client)
	for _, index := range []string{"", "byOrg", "whole"} {
		for _, forward := range []bool{true, false} {
			for _, limit := range []int32{1, 3, 10, 11} {
				t.Run(fmt.Sprint(index, forward, limit), func(t *testing.T) {
					t.Parallel()
					checkPaging(t, client, index, forward, limit)
				})
			}
		}
	}
}

func checkPaging(t *testing.T, client *dynamodb.Client, index string, forward bool, limit int32) {
	t.Helper()
	in := queryInput("pk = :v", item{":v": str("a")})
	if index != "" {
		in = queryInput("org = :v", item{":v": str("o")})
		in.IndexName = &index
	}
	in.Limit, in.ScanIndexForward = &limit, &forward
	var got []string
	pages := dynamodb.NewQueryPaginator(client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) > int(limit) {
			t.Fatalf("got a page of %d rows, want at most %d", len(page.Items), limit)
		}
		got = append(got, sortKeys(page.Items)...)
	}
	want := []string{"00", "01", "02", "03", "04", "05", "06", "07", "08", "09"}
	if index == "whole" {
		slices.Sort(got)
	} else if !forward {
		slices.Reverse(want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

func TestAPageContinuesBehindARowThatIsGone(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tenTasks(t, client)
	in := queryInput("pk = :p", item{":p": str("a")})
	in.Limit = aws.Int32(3)
	out, err := client.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, out.LastEvaluatedKey, key("a", "02"))
	if _, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: out.LastEvaluatedKey}); err != nil {
		t.Fatal(err)
	}
	in.ExclusiveStartKey = out.LastEvaluatedKey
	if out, err = client.Query(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"03", "04", "05"}, sortKeys(out.Items)); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

func TestAPageEndsAtOneMegabyteBeforeTheFilter(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for i := range 5 {
		put(t, client, item{"pk": str("big"), "sk": str(strconv.Itoa(i)), "body": str(longText(300 << 10))})
	}
	in := queryInput("pk = :p", item{":p": str("big")})
	in.FilterExpression = aws.String("attribute_not_exists(body)")
	out, err := client.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if out.Count != 0 || out.ScannedCount != 3 {
		t.Errorf("got %d of %d rows, want 0 of 3", out.Count, out.ScannedCount)
	}
	wantItem(t, out.LastEvaluatedKey, key("big", "2"))
}

func TestNumbersAreOrderedAsNumbers(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	want := []string{"-1E+120", "-20", "-3", "-2.55", "-2.5", "-0.001", "0", "1E-130", "0.02", "0.1", "9", "10", "10.01", "100", "9E+125"}
	for i, due := range want {
		put(t, client, item{"pk": str("n"), "sk": str(fmt.Sprintf("%02d", i)), "shard": str("s"), "due": num(due)})
	}
	in := queryInput("#s = :s", item{":s": str("s")})
	in.IndexName = aws.String("byDue")
	in.ExpressionAttributeNames = map[string]string{"#s": "shard"}
	out, err := client.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := sortKeys(out.Items); !slices.IsSorted(got) || len(got) != len(want) {
		t.Errorf("got order %v, want ascending", got)
	}
}

func TestMalformedQueriesAreRefused(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tenTasks(t, client)
	both := item{":p": str("a"), ":a": str("03")}
	tests := map[string]struct {
		change  func(in *dynamodb.QueryInput)
		message string
	}{
		"no key condition":             {func(in *dynamodb.QueryInput) { in.KeyConditionExpression, in.ExpressionAttributeValues = nil, nil }, "KeyConditionExpression parameter must be specified"},
		"no partition key":             {func(in *dynamodb.QueryInput) { condition(in, "sk = :a", item{":a": str("1")}) }, "Query condition missed key schema element: pk"},
		"no equality of the partition": {func(in *dynamodb.QueryInput) { condition(in, "pk > :p AND sk = :a", both) }, "Query key condition not supported"},
		"a condition on no key":        {func(in *dynamodb.QueryInput) { condition(in, "pk = :p AND note = :a", both) }, "Query condition missed key schema element: sk"},
		"two conditions on one key":    {func(in *dynamodb.QueryInput) { condition(in, "pk = :p AND pk = :a", both) }, "one condition per key"},
		"a disjunction":                {func(in *dynamodb.QueryInput) { condition(in, "pk = :p OR sk = :a", both) }, "Invalid operator used in KeyConditionExpression: OR"},
		"an inequality":                {func(in *dynamodb.QueryInput) { condition(in, "pk = :p AND sk <> :a", both) }, "Invalid operator used in KeyConditionExpression: <>"},
		"a list of values":             {func(in *dynamodb.QueryInput) { condition(in, "pk = :p AND sk IN (:a)", both) }, "Invalid operator used in KeyConditionExpression: IN"},
		"another function":             {func(in *dynamodb.QueryInput) { condition(in, "pk = :p AND contains(sk, :a)", both) }, "Invalid operator used in KeyConditionExpression: contains"},
		"a nested attribute":           {func(in *dynamodb.QueryInput) { condition(in, "pk = :p AND sk.x = :a", both) }, "nested attributes"},
		"a key of the wrong type":      {func(in *dynamodb.QueryInput) { condition(in, "pk = :p", item{":p": num("1")}) }, "Condition parameter type does not match schema type"},
		"an empty key":                 {func(in *dynamodb.QueryInput) { condition(in, "pk = :p", item{":p": str("")}) }, "empty string value. Key: pk"},
		"a filter on a key":            {func(in *dynamodb.QueryInput) { in.FilterExpression = aws.String("sk = :p") }, "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
		"an unknown index":             {func(in *dynamodb.QueryInput) { in.IndexName = aws.String("none") }, "The table does not have the specified index: none"},
		"a consistent index":           {func(in *dynamodb.QueryInput) { byOrg(in); in.ConsistentRead = aws.Bool(true) }, "Consistent reads are not supported on global secondary indexes"},
		"all of a partial index":       {func(in *dynamodb.QueryInput) { byOrg(in); in.Select = types.SelectAllAttributes }, "Select type ALL_ATTRIBUTES is not supported for global secondary index byOrg"},
		"what an index does not have":  {func(in *dynamodb.QueryInput) { byOrg(in); in.ProjectionExpression = aws.String("secret") }, "does not project"},
		"projected without an index":   {func(in *dynamodb.QueryInput) { in.Select = types.SelectAllProjectedAttributes }, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
		"a projection of a count": {func(in *dynamodb.QueryInput) {
			in.Select = types.SelectCount
			in.ProjectionExpression = aws.String("sk")
		}, "Cannot specify the ProjectionExpression when choosing to get COUNT"},
		"a limit of zero":           {func(in *dynamodb.QueryInput) { in.Limit = aws.Int32(0) }, "failed to satisfy constraint: Member must have value greater than or equal to 1"},
		"an overlapping projection": {func(in *dynamodb.QueryInput) { in.ProjectionExpression = aws.String("m, m.x") }, "Two document paths overlap"},
		"a start elsewhere":         {func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = key("b", "1") }, "The provided starting key is outside query boundaries"},
		"half a start":              {func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = item{"pk": str("a")} }, "The provided starting key is invalid"},
		"a start without the index": {func(in *dynamodb.QueryInput) { byOrg(in); in.ExclusiveStartKey = key("a", "1") }, "The provided starting key is invalid"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := queryInput("pk = :p", item{":p": str("a")})
			test.change(in)
			_, err := client.Query(t.Context(), in)
			wantRefusal(t, err, "ValidationException", test.message)
		})
	}
}

func condition(in *dynamodb.QueryInput, expression string, values item) {
	in.KeyConditionExpression, in.ExpressionAttributeValues = &expression, values
}

func byOrg(in *dynamodb.QueryInput) {
	condition(in, "org = :o", item{":o": str("o")})
	in.IndexName = aws.String("byOrg")
}
