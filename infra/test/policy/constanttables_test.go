package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestConstantTablesFindsChangedTable(t *testing.T) {
	t.Parallel()
	finds(t, policy.ConstantTables(files(t, map[string]string{
		"a/a.go": "package a\n\nvar (\n\tcodes = map[string]int{\"x\": 1}\n\tnames = []string{\"b\", \"a\"}\n)\n",
		"a/b.go": `package a

func reads() { names := append(names, codes["x"]); _ = names }
func sets() { codes["y"] = 2 }
func counts() { codes["x"]++ }
func replaces() { names = nil }
func sorts() { slices.Sort(names) }
func removes() { delete(codes, "x") }
`,
		"b/b.go": "package b\n\nfunc f() { codes := map[string]int{}; codes[\"x\"] = 1 }\n",
	})),
		"a/b.go:4: changes the table codes",
		"a/b.go:5: changes the table codes",
		"a/b.go:6: changes the table names",
		"a/b.go:7: changes the table names",
		"a/b.go:8: changes the table codes",
	)
}
