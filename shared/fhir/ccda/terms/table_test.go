package terms_test

import (
	"testing"

	"recordbridge/shared/fhir/ccda/terms"
)

func TestTableIgnoresPartialKeys(t *testing.T) {
	t.Parallel()
	const table terms.Table = `
10 ten
1 one
11 eleven, not 12
`
	for key, want := range map[string]string{
		"1": "one", "10": "ten", "11": "eleven, not 12", "12": "", "0": "", "one": "",
		"": "", "13": "", "1 one\n10": "",
	} {
		if got := table.Of(key); got != want {
			t.Errorf("value of %q is %q, want %q", key, got, want)
		}
	}
}
