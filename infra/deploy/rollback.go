package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"recordbridge/infra/ctl/cloudformation"
	"recordbridge/infra/ctl/target"
	"recordbridge/infra/deploy/published"
	"recordbridge/shared/words/release"
)

// rollback makes an earlier release live at once by moving every function's alias. It changes neither the template's
// resources nor the deployed parameters (docs/operate/upgrade-and-rollback.md).
func rollback(ctx context.Context, env environment, name, to string, out io.Writer) error {
	deployed, err := target.Named(ctx, name)
	if err != nil {
		return err
	}
	status, err := cloudformation.Status(ctx, deployed.Config, time.Now, name)
	if err == nil {
		err = checkIdle(name, status)
	}
	if err != nil {
		return err
	}
	stack, err := published.Read(ctx, deployed.Config, time.Now, name)
	if err != nil {
		return err
	}
	releases := stack.Releases()
	chosen, err := choose(releases, to)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, listed(env, releases))
	}
	moves, absent := stack.Plan(chosen.Name)
	err = stack.Apply(ctx, moves, func(m published.Move) {
		fmt.Fprintf(out, "  %-32s version %s -> %s\n", m.Function.ID, m.Function.Live, m.To)
	})
	if err != nil {
		return fmt.Errorf("%w; repeat the command, which continues where it stopped", err)
	}
	for _, f := range absent {
		fmt.Fprintf(out, "  %-32s version %s stays, because the release does not contain the function\n", f.ID, f.Live)
	}
	fmt.Fprintf(out, `
%[1]s: %[2]s is live. %[3]d functions were moved, %[4]d already ran it.

Tables, roles, routes, alarms and parameters in the template are still those of the release deployed last.
The next deployment makes its own release live. If it uses GradualDeployment and fails because an alias was moved,
repeat it with GradualDeployment=false.

  make smoke STACK=%[1]s
`, name, chosen.Name, len(moves), len(stack.Functions)-len(moves)-len(absent))
	return nil
}

// checkIdle returns an error if a deployment is running. Moving an alias during a deployment would interfere with
// CodeDeploy. The clean-up after a deployment doesn't matter, because the aliases no longer change.
func checkIdle(name, status string) error {
	switch {
	case status == "UPDATE_IN_PROGRESS":
		return fmt.Errorf("%[1]s is being deployed. To cancel the deployment, which restores the release before it:\n"+
			"  aws cloudformation cancel-update-stack --stack-name %[1]s\n"+
			"  aws cloudformation wait stack-rollback-complete --stack-name %[1]s", name)
	case strings.HasSuffix(status, "_IN_PROGRESS") && !strings.HasSuffix(status, "_CLEANUP_IN_PROGRESS"):
		return fmt.Errorf("%[1]s is %[2]s: wait until it has finished:\n"+
			"  aws cloudformation describe-stacks --stack-name %[1]s --query 'Stacks[].StackStatus'", name, status)
	}
	return nil
}

// shortestCommit is the minimum length of an abbreviated commit.
const shortestCommit = 7

// choose returns the release with the given name, version or commit.
func choose(releases []published.Release, to string) (published.Release, error) {
	if to == "" {
		return published.Release{}, errors.New("which release?")
	}
	var matching []published.Release
	for _, r := range releases {
		is := release.Parse(r.Name)
		if to == r.Name || to == is.Version || len(to) >= shortestCommit && strings.HasPrefix(is.Commit, to) {
			matching = append(matching, r)
		}
	}
	switch len(matching) {
	case 0:
		return published.Release{}, fmt.Errorf("there is no release %s, or its function versions were deleted", to)
	case 1:
		return matching[0], nil
	}
	return published.Release{}, fmt.Errorf("%d releases match %s", len(matching), to)
}

// listed describes the releases that are available.
func listed(env environment, releases []published.Release) string {
	if len(releases) == 0 {
		return "No release has a name: deploy the earlier one from its commit (docs/operate/upgrade-and-rollback.md)."
	}
	var text strings.Builder
	for _, r := range releases {
		fmt.Fprintf(&text, "  %s  %s", r.Name, r.Modified)
		if r.Live > 0 {
			fmt.Fprintf(&text, "  live in %d functions", r.Live)
		}
		text.WriteString("\n")
	}
	return fmt.Sprintf("Available:\n%sChoose one: make rollback ENV=%s TO=RELEASE", text.String(), env)
}
