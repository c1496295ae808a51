package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTableShowsOneRowPerObjectWithIdentifiersFirst(t *testing.T) {
	outputs := newStack(t)
	do := doer(t, outputs)
	id := do("organisation", "create", "-name", "Alder", "-email", "ops@app.example")["id"].(string)
	for line, want := range map[string][]string{
		"-o table organisation list": {
			"ID                                    NAME   MODE  STATUS  LIVE_ACCESS  PLAN",
			id + "  Alder  live  active  granted      free",
		},
		"organisation list -o table": {"  NAME   MODE  STATUS"},
		"organisation show -o table -org Alder": {
			"id                  " + id + "\n",
			"emails              ops@app.example\n",
		},
		"-o table webhook list -mode live -org Alder":    {"none\n"},
		"-o table audit list -org Alder":                 {"\nrows:\nSEQ  ", "organisation.created"},
		"-o json organisation list":                      {`"name": "Alder"`},
		"-o table organisation list -o json":             {`"name": "Alder"`},
		"-o table connection list -mode live -org " + id: {"connections  none\n"},
	} {
		out, _, err := ran(t, outputs, "", false, line)
		for _, part := range want {
			if err != nil || !strings.Contains(out, part) {
				t.Errorf("%s: %v, no %q in\n%s", line, err, part, out)
			}
		}
	}
	for _, line := range []string{"-o yaml organisation list", "organisation list -o yaml"} {
		if _, _, err := ran(t, outputs, "", false, line); exitCode(err) != 2 ||
			!strings.Contains(errorText(err), "must be table or json") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestTableReplacesCharactersThatControlTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := session{streams: streams{out: &out, format: formatTable}}
	if err := s.print([]map[string]string{{"name": "a\x1b[31mb\u202ec\nd"}}); err != nil ||
		out.String() != "NAME\na\ufffd[31mb\ufffdc\ufffdd\n" {
		t.Errorf("%q (%v)", out.String(), err)
	}
}
