package views_test

import (
	"os"
	"strings"
	"testing"

	"recordbridge/infra/recordbridge/views"
)

func TestGuideListsColumnsOfBuiltinViews(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/guide/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range views.BuiltinNames() {
		data, err := views.BuiltinJSON(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := views.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(guide), "\n### "+name+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		for _, column := range v.Columns {
			if !found || !strings.Contains(section, "`"+column.Name+"`") {
				t.Errorf("the guide's section %s lacks the column %s", name, column.Name)
			}
		}
	}
}
