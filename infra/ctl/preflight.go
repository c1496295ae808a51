package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/infra/ctl/target"
	"recordbridge/infra/deploy/samconfig"
	"recordbridge/infra/local/template"
)

func preflightCommands() []command {
	return []command{{
		name: "preflight", flags: "-env dev|staging|prod [-parameters FILE]", offline: true, needs: []string{"env"},
		help: "Checks tools, parameters and the AWS account before a deployment; exits with 1 and suggests fixes if a " +
			"check fails",
		declare: preflight,
	}}
}

// rollout describes a planned deployment.
type rollout struct {
	stack      string
	isDev      bool // true if the stack never holds patients' data
	isProd     bool
	parameters map[string]string
	config     aws.Config
}

// forecast is a named check of the preflight command.
type forecast struct {
	name string
	look func(ctx context.Context, r rollout) []finding
}

func forecasts() []forecast {
	return []forecast{
		{"tools", checkTools},
		{"parameters", checkParameters},
		{"caller", checkCaller},
		{"stack", checkStack},
		{"concurrency", checkConcurrency},
		{"certificate", checkCertificate},
		{"access log", checkAccessLogRole},
		{"mail", checkMailOf},
		{"CloudTrail", checkTrails},
	}
}

func preflight(flags *flag.FlagSet) action {
	environment := flags.String("env", "", "`environment` of samconfig.toml")
	own := flags.String("parameters", "", "`file` of lines NAME=VALUE, as for make deploy PARAMETERS=FILE")
	return func(ctx context.Context, s session) (any, error) {
		var values []byte
		var err error
		if *own != "" {
			if values, err = os.ReadFile(*own); err != nil {
				return nil, fmt.Errorf("-parameters: %w", err)
			}
		}
		if !slices.Contains([]string{"dev", "staging", "prod"}, *environment) {
			return nil, misused("-env is dev, staging or prod")
		}
		if s.at != (where{}) {
			return nil, misused("preflight reads the stack's name from %s; remove -stack and -outputs", samconfig.File)
		}
		r, err := planned(*environment, string(values))
		if err != nil {
			return nil, err
		}
		if r.config, err = target.SignIn(ctx); err != nil {
			return nil, err
		}
		var all []finding
		for _, c := range forecasts() {
			for _, f := range c.look(ctx, r) {
				f.Check = c.name
				all = append(all, f)
			}
		}
		wrong := slices.ContainsFunc(all, func(f finding) bool { return f.State == "wrong" })
		shown := map[string]any{"stack": r.stack, "region": r.config.Region, "findings": all, "ready": !wrong}
		if wrong {
			return nil, &failedCheckError{shown}
		}
		return shown, nil
	}
}

// planned reads the deployment's settings from samconfig.toml. own is the content of the operator's own file.
func planned(environment, own string) (rollout, error) {
	config, err := os.ReadFile(samconfig.File)
	if err != nil {
		return rollout{}, fmt.Errorf("run preflight in the repository's top folder: %w", err)
	}
	r := rollout{
		stack: samconfig.Setting(string(config), environment, "stack_name"),
		isDev: environment == "dev", isProd: environment == "prod", parameters: map[string]string{},
	}
	if r.stack == "" {
		return rollout{}, misused("%s has no stack_name for %s", samconfig.File, environment)
	}
	parameters, err := samconfig.Parameters(string(config), environment, own)
	if err != nil {
		return rollout{}, misused("-parameters: %w", err)
	}
	for _, p := range parameters {
		r.parameters[p.Name] = p.Value
	}
	return r, nil
}

// template returns the template with the deployment's parameters. The template refuses parameters that it doesn't have
// and values that it doesn't allow.
func (r rollout) template() (*template.Template, error) {
	return template.Load("template.yaml", template.Options{
		Parameters: r.parameters, BaseURL: "http://127.0.0.1", StackName: r.stack,
	})
}

// checkParameters checks the parameters without AWS calls.
func checkParameters(_ context.Context, r rollout) []finding {
	if _, err := r.template(); err != nil {
		return []finding{amiss("Fix the parameter. template.yaml describes each one.", "The template refuses the "+
			"parameters: %v.", err)}
	}
	const set = "Set it in your parameters file."
	given := func(name string) bool { return r.parameters[name] != "" }
	var found []finding
	for _, rule := range []struct {
		isBroken bool
		do, what string
	}{
		{r.isProd && r.parameters["EnableSandbox"] == "true", "Remove it.", "EnableSandbox is true in production."},
		{given("AllowedPrivateRanges"), "Remove it.", "AllowedPrivateRanges lets customers reach private addresses."},
		{given("DomainName") != given("DomainCertificateArn"), set, "DomainName and DomainCertificateArn need each other."},
		{
			r.isProd && !given("DomainName"), set, "DomainName is empty, so health systems would register callback URLs " +
				"that change when you set it.",
		},
		{!r.isDev && !given("MailFrom"), set, "MailFrom is empty, so members can't sign in, and patients get no codes."},
		{!r.isDev && !given("AlarmEmail"), set, "AlarmEmail is empty, so alarms notify nobody."},
	} {
		if rule.isBroken {
			found = append(found, amiss(rule.do, "%s", rule.what))
		}
	}
	for _, name := range []string{"DomainCertificateArn", "TefcaSecretArn", "LogsKeyArn"} {
		if region := regionOf(r.parameters[name]); region != "" && region != r.config.Region {
			found = append(found, amiss("Use one in "+r.config.Region+", or set AWS_REGION.", "%s is in %s, but the stack "+
				"will be in %s.", name, region, r.config.Region))
		}
	}
	if found == nil {
		found = append(found, fine("The template accepts the parameters of %s.", r.stack))
	}
	return found
}

// regionOf returns an ARN's region, or "" if the text isn't an ARN.
func regionOf(arn string) string {
	if parts := strings.Split(arn, ":"); len(parts) > 5 { // the format is arn:partition:service:region:account:resource
		return parts[3]
	}
	return ""
}

// tool is a program that a deployment needs.
type tool struct {
	name, argument string
	least          string // minimum version, or "" if any version suffices
}

func tools() []tool {
	return []tool{
		{"git", "--version", ""},
		{"make", "--version", ""},
		{"go", "version", goVersion()},
		{"node", "--version", "20.19"},
		{"npm", "--version", ""},
		{"sam", "--version", ""},
		{"aws", "--version", "2.0"},
	}
}

var (
	goDirective = regexp.MustCompile(`(?m)^go (\d+\.\d+)`)
	version     = regexp.MustCompile(`\d+(?:\.\d+)+`)
)

// goVersion returns the Go version that the module requires.
func goVersion() string {
	text, err := os.ReadFile("go.mod")
	if m := goDirective.FindSubmatch(text); err == nil && m != nil {
		return string(m[1])
	}
	return ""
}

// isOlder reports whether a version precedes another, comparing number by number.
func isOlder(version, least string) bool {
	numbers := func(text string) []int {
		parts := strings.Split(text, ".")
		all := make([]int, len(parts))
		for i, part := range parts {
			all[i], _ = strconv.Atoi(part)
		}
		return all
	}
	return slices.CompareFunc(numbers(version), numbers(least), cmp.Compare[int]) < 0
}
