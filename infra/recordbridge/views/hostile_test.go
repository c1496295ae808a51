package views_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseBoundsHostileView(t *testing.T) {
	t.Parallel()
	leaf := `{"column": [{"name": "a", "path": "id"}]}`
	columns := make([]string, 1001)
	for i := range columns {
		columns[i] = fmt.Sprintf(`{"name": "c%d", "path": "id"}`, i)
	}
	for name, selects := range map[string]string{
		"nesting": strings.Repeat(`{"select": [`, 40) + leaf + strings.Repeat(`]}`, 40),
		"union":   `{"unionAll": [` + leaf + strings.Repeat(`,`+leaf, 1001) + `]}`,
		"columns": `{"column": [` + strings.Join(columns, ",") + `]}`,
		"size":    leaf + strings.Repeat(" ", 1<<20),
	} {
		if _, err := view(t, selects); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v, want an error about a limit", name, err)
		}
	}
}

func TestRowsBoundWorkForOneResource(t *testing.T) {
	t.Parallel()
	product, names := make([]string, 0, 8), make([]string, 0, 20)
	for i := range 8 {
		product = append(product, fmt.Sprintf(`{"forEach": "name", "column": [{"name": "c%d", "path": "family"}]}`, i))
	}
	for range 20 {
		names = append(names, `{"family": "Ferris"}`)
	}
	long := `'` + strings.Repeat("x", 3200) + `'`
	text := `name.family.join(` + long + `)`
	for name, test := range map[string]struct {
		selects string
		want    string
	}{
		"product": {strings.Join(product, ","), "too many steps"},
		"loop":    {`{"repeat": ["$this"], "column": [{"name": "a", "path": "id"}]}`, "descends too deeply"},
		"tree":    {`{"repeat": ["$this", "$this"], "column": [{"name": "a", "path": "id"}]}`, "descends too deeply"},
		"texts": {
			`{"forEach": "name", "select": [{"forEach": "%resource.name", "select": [{"forEach": "%resource.name", "column": [
				{"name": "a", "path": "%resource.` + text + `"}]}]}]}`, "too many steps",
		},
	} {
		v, err := view(t, test.selects)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, err = rows(t, v, `{"resourceType": "Patient", "name": [`+strings.Join(names, ",")+`]}`)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
