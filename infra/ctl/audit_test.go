package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/adapters/store"
)

// TestAuditListsExportsAndVerifiesLog checks that operators can list and export the audit log, and that ctl detects
// changes to the table's rows.
func TestAuditListsExportsAndVerifiesLog(t *testing.T) {
	outputs := newStack(t)
	do := doer(t, outputs)
	id := do("organisation", "create", "-name", "Alder")["id"].(string)
	do("organisation", "set", "-org", id, "-name", "Alder Two")
	do("webhook", "create", "-org", id, "-mode", "live", "-url", "https://hooks.alder.example/in")
	page := do("audit", "list", "-org", id, "-limit", "2")
	rows, _ := page["rows"].([]any)
	if first, ok := rows[0].(map[string]any); len(rows) != 2 || !ok || first["action"] != "webhook.created" ||
		first["mode"] != "live" || first["actor"] != actor || first["from"] != "ctl" || page["next"] != 2.0 {
		t.Errorf("listed %v", page)
	}
	if changes := fmt.Sprint(rows[1].(map[string]any)["changes"]); changes != "[map[field:name new:Alder Two old:Alder]]" {
		t.Errorf("changes %s", changes)
	}
	if last, _ := do("audit", "list", "-org", id, "-before", "2")["rows"].([]any); len(last) != 1 {
		t.Errorf("the page behind: %v", last)
	}
	var file bytes.Buffer
	if err := run(t.Context(), []string{"-outputs", outputs, "audit", "export", "-org", id}, to(&file)); err != nil {
		t.Fatal(err)
	}
	kept := writeFile(t, file.String())
	head, _ := do("audit", "verify", "-org", id)["head"].(map[string]any)
	told := "3:" + head["hash"].(string)
	if !strings.Contains(file.String(), `{"head":{"seq":3,"hash":"`+head["hash"].(string)+`"}}`) {
		t.Errorf("exported %s", file.String())
	}
	do("audit", "verify", "-file", kept, "-head", told)

	found := openStored(t, outputs)
	_, err := store.NewClient(found.config).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: new(found.outputs["AuditTable"]), Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "ORG#" + id},
			"sk": &types.AttributeValueMemberS{Value: "ROW#000000000002"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"-org " + id: `"what": "missing"`, "-file " + kept + " -head 4" + told[1:]: `"what": "cut_off"`,
		"-file " + kept + " -head 3:" + strings.Repeat("0", 64): `"what": "rewritten"`,
	} {
		var out bytes.Buffer
		err := run(t.Context(), append([]string{"-outputs", outputs, "audit", "verify"}, strings.Fields(line)...), to(&out))
		if exitCode(err) != 1 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, printed %s", line, err, out.String())
		}
	}
	for _, line := range []string{"-org x", "-file f -org " + id, "-head 3:ff", "-file"} {
		if err := run(t.Context(), append([]string{"-outputs", outputs, "audit", "verify"}, strings.Fields(line)...),
			to(&bytes.Buffer{})); exitCode(err) != 2 {
			t.Errorf("%s: %v", line, err)
		}
	}
}
