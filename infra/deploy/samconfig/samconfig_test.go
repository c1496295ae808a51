package samconfig_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/deploy/samconfig"
)

const config = `version = 0.1
[prod.global.parameters]
stack_name = "shared"
[prod.deploy.parameters]
stack_name = "recordbridge-prod" # not read: a comment follows
parameter_overrides = "EnableFirewall=true ReservedConcurrency=50"
`

func TestSettingPrefersDeployCommand(t *testing.T) {
	t.Parallel()
	got := samconfig.Setting(config, "prod", "parameter_overrides")
	if got != "EnableFirewall=true ReservedConcurrency=50" {
		t.Errorf("overrides: %q", got)
	}
	if got := samconfig.Setting(config, "prod", "stack_name"); got != "shared" {
		t.Errorf("stack: %q", got)
	}
	if got := samconfig.Setting(config, "dev", "stack_name"); got != "" {
		t.Errorf("stack of an unknown environment: %q", got)
	}
}

func TestParametersReplacesValuesWithOperatorsOwn(t *testing.T) {
	t.Parallel()
	got, err := samconfig.Parameters(config, "prod", "# mine\n\nReservedConcurrency=20\nTefcaConfig={\"a\": \"b=c\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	arguments := make([]string, 0, len(got))
	for _, p := range got {
		arguments = append(arguments, p.Argument())
	}
	want := []string{"EnableFirewall=true", "ReservedConcurrency=20", `TefcaConfig="{\"a\": \"b=c\"}"`}
	if diff := cmp.Diff(want, arguments); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestParametersRejectsLineWithoutValue(t *testing.T) {
	t.Parallel()
	for _, own := range []string{"A=b\nDomainName", "Domain Name=a", "=a"} {
		if _, err := samconfig.Parameters(config, "prod", own); err == nil || !strings.Contains(err.Error(), "NAME=VALUE") {
			t.Errorf("%q: %v", own, err)
		}
	}
}
