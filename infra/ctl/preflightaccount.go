package main

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/ses/types"

	"recordbridge/infra/ctl/cloudformation"
	"recordbridge/shared/platform/config/awscall"
)

// guide is the page that the remedies name.
const guide = "docs/operate/first-deployment.md"

func checkTools(ctx context.Context, _ rollout) []finding {
	var found []finding
	var present []string
	for _, t := range tools() {
		output, err := exec.CommandContext(ctx, t.name, t.argument).CombinedOutput() //nolint:gosec // a fixed list
		got := version.FindString(string(output))
		switch {
		case err != nil || got == "":
			found = append(found, amiss("Install "+t.name+" "+t.least+" ("+guide+").", "%s is missing.", t.name))
		case t.least != "" && isOlder(got, t.least):
			found = append(found, amiss("Install "+t.name+" "+t.least+" or later.", "%s has version %s.", t.name, got))
		default:
			present = append(present, t.name+" "+got)
		}
	}
	return append(found, fine("Tools: %s.", strings.Join(present, ", ")))
}

// checkCaller names the account and the identity, so that an operator notices a wrong profile.
func checkCaller(ctx context.Context, r rollout) []finding {
	var caller struct {
		Arn     string `xml:"GetCallerIdentityResult>Arn"`
		Account string `xml:"GetCallerIdentityResult>Account"`
	}
	err := awscall.Do(ctx, r.config, time.Now, awscall.Call{
		Service: "sts", SDKID: "STS",
		Body:   url.Values{"Action": {"GetCallerIdentity"}, "Version": {"2011-06-15"}}.Encode(),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
		Read: func(status int, answer []byte) error {
			if status == http.StatusOK && xml.Unmarshal(answer, &caller) == nil {
				return nil
			}
			return &awscall.RefusedError{Status: status}
		},
	})
	switch {
	case err != nil:
		return []finding{amiss("Sign in again, for example with aws sso login.", "AWS doesn't accept the credentials: %v.",
			summary(err))}
	case strings.HasSuffix(caller.Arn, ":root"):
		return []finding{amiss("Deploy with a role that has only the deployer's policies ("+guide+").", "The caller is "+
			"the root user of account %s.", caller.Account)}
	}
	return []finding{fine("%s deploys to account %s in %s.", caller.Arn, caller.Account, r.config.Region)}
}

// checkStack checks whether CloudFormation can create or update the stack. Log groups have fixed names and can outlive
// their stack.
func checkStack(ctx context.Context, r rollout) []finding {
	status, err := cloudformation.Status(ctx, r.config, time.Now, r.stack)
	switch {
	case err == nil && (status == "ROLLBACK_COMPLETE" || status == "ROLLBACK_FAILED" || status == "DELETE_FAILED"):
		return []finding{amiss("Run aws cloudformation delete-stack --stack-name "+r.stack+".", "%s is in %s, so it can't "+
			"be updated.", r.stack, status)}
	case err == nil && status == "UPDATE_ROLLBACK_FAILED":
		return []finding{amiss("Run aws cloudformation continue-update-rollback --stack-name "+r.stack+".", "%s is in %s.",
			r.stack, status)}
	case err == nil:
		return []finding{fine("The deployment updates %s, which is in %s.", r.stack, status)}
	case !cloudformation.IsMissing(err):
		return []finding{notInspected("Allow cloudformation:DescribeStacks.", "The stack can't be read: %v.", summary(err))}
	}
	prefix := "/recordbridge/" + r.stack + "/"
	var groups struct {
		LogGroups []struct{ LogGroupName string }
	}
	err = awscall.JSON(ctx, r.config, time.Now, awscall.Operation{
		Service: "logs", SDKID: "CLOUDWATCH_LOGS", Target: "Logs_20140328.DescribeLogGroups",
	}, map[string]string{"logGroupNamePrefix": prefix}, &groups)
	if err != nil {
		return []finding{notInspected("Allow logs:DescribeLogGroups.", "Log groups can't be read: %v.", summary(err))}
	}
	if len(groups.LogGroups) > 0 {
		return []finding{amiss("Export and delete them (aws logs delete-log-group), or choose another stack_name.",
			"%d log groups of an earlier stack begin with %s, so CloudFormation can't create them.", len(groups.LogGroups),
			prefix)}
	}
	return []finding{fine("The deployment creates %s.", r.stack)}
}

// unreserved is the concurrency that AWS keeps for functions without reserved concurrency (AWS Lambda Developer Guide,
// "Configuring reserved concurrency").
const unreserved = 100

func checkConcurrency(ctx context.Context, r rollout) []finding {
	t, err := r.template()
	if err != nil {
		return []finding{notInspected("Fix the parameters first.", "The needed concurrency is unknown.")}
	}
	reserved, workers := 0, 0
	for _, f := range t.Functions {
		reserved += f.Reserved
		for _, queue := range f.QueueTriggers {
			workers += queue.MaxConcurrency
		}
	}
	var settings struct {
		AccountLimit struct{ ConcurrentExecutions int }
	}
	err = awscall.Get(ctx, r.config, time.Now, "lambda", "LAMBDA", "2016-08-19/account-settings", &settings)
	quota := settings.AccountLimit.ConcurrentExecutions
	const request = "Request more in Service Quotas (" + guide + ")"
	switch {
	case err != nil:
		return []finding{notInspected("Allow lambda:GetAccountSettings.", "The quota can't be read: %v.", summary(err))}
	case reserved > 0 && quota < reserved+unreserved:
		return []finding{amiss(request+", or lower ReservedConcurrency.", "The account allows %d concurrent executions. The "+
			"stack reserves %d, and AWS keeps %d unreserved, so the deployment would fail.", quota, reserved, unreserved)}
	case !r.isDev && quota < reserved+unreserved+workers:
		return []finding{amiss(request+", or lower the four worker parameters, such as ExportConcurrency.",
			"The account allows %d concurrent executions, but workers and requests can use %d.", quota,
			reserved+unreserved+workers)}
	}
	return []finding{fine("The account allows %d concurrent executions. The stack reserves %d, and its workers use up to "+
		"%d.", quota, reserved, workers)}
}

func checkCertificate(ctx context.Context, r rollout) []finding {
	domain, arn := r.parameters["DomainName"], r.parameters["DomainCertificateArn"]
	if domain == "" || arn == "" {
		return []finding{fine("No domain is configured.")}
	}
	var described struct {
		Certificate struct {
			Status                  string
			SubjectAlternativeNames []string
		}
	}
	err := awscall.JSON(ctx, r.config, time.Now, awscall.Operation{
		Service: "acm", SDKID: "ACM", Target: "CertificateManager.DescribeCertificate",
	}, map[string]string{"CertificateArn": arn}, &described)
	_, parent, _ := strings.Cut(domain, ".")
	switch names := described.Certificate.SubjectAlternativeNames; {
	case err != nil:
		return []finding{notInspected("Check the ARN, and allow acm:DescribeCertificate.", "The certificate can't be "+
			"read: %v.", summary(err))}
	case described.Certificate.Status != "ISSUED":
		return []finding{amiss("Create its DNS validation record ("+guide+").", "The certificate's status is %s.",
			described.Certificate.Status)}
	case !slices.Contains(names, domain) && !slices.Contains(names, "*."+parent):
		return []finding{amiss("Request a certificate for "+domain+".", "The certificate is for %s.",
			strings.Join(names, ", "))}
	}
	return []finding{fine("The certificate for %s is issued.", domain)}
}

func checkAccessLogRole(ctx context.Context, r rollout) []finding {
	if r.parameters["EnableAccessLog"] != "true" {
		return []finding{fine("Access logs are off.")}
	}
	var account struct{ CloudwatchRoleArn string }
	err := awscall.Get(ctx, r.config, time.Now, "apigateway", "API_GATEWAY", "account", &account)
	switch {
	case err != nil:
		return []finding{notInspected("Allow apigateway:GET on /account.", "API Gateway's settings can't be read: %v.",
			summary(err))}
	case account.CloudwatchRoleArn == "":
		return []finding{amiss("Create and register the role ("+guide+").", "API Gateway has no role to write access "+
			"logs, so the deployment would fail.")}
	}
	return []finding{fine("API Gateway writes logs with %s.", account.CloudwatchRoleArn)}
}

func checkMailOf(ctx context.Context, r rollout) []finding {
	sender := r.parameters["MailFrom"]
	if sender == "" {
		return []finding{fine("No emails are sent.")}
	}
	client := ses.NewFromConfig(r.config)
	domain := domainOf(sender)
	known, err := client.GetIdentityVerificationAttributes(ctx, &ses.GetIdentityVerificationAttributesInput{
		Identities: []string{sender, domain},
	})
	if err != nil {
		return []finding{notInspected("Allow ses:GetIdentityVerificationAttributes.", "SES can't be read: %v.",
			summary(err))}
	}
	var found []finding
	if !slices.ContainsFunc([]string{sender, domain}, func(identity string) bool {
		return known.VerificationAttributes[identity].VerificationStatus == types.VerificationStatusSuccess
	}) {
		found = append(found, amiss("Verify the domain of MailFrom ("+guide+").", "Neither MailFrom nor its domain %s is a "+
			"verified identity in %s.", domain, r.config.Region))
	}
	quota, err := client.GetSendQuota(ctx, &ses.GetSendQuotaInput{})
	switch {
	case err != nil:
		return append(found, notInspected("Allow ses:GetSendQuota.", "SES can't be read: %v.", summary(err)))
	case quota.Max24HourSend <= sandboxQuota:
		return append(found, amiss("Request production access ("+guide+").", "SES is in its sandbox, so emails reach only "+
			"verified addresses."))
	case found == nil:
		return []finding{fine("SES sends as %s, up to %v emails in 24 hours.", domain, quota.Max24HourSend)}
	}
	return found
}

// trail is a CloudTrail trail's selection of events.
type trail struct {
	EventSelectors []struct {
		DataResources []struct{ Type string }
	}
	AdvancedEventSelectors []struct {
		FieldSelectors []struct {
			Field  string
			Equals []string
		}
	}
}

const recordedTables = "AWS::DynamoDB::Table"

// recordsTables reports whether the trail records data events of tables.
func (t trail) recordsTables() bool {
	for _, selector := range t.EventSelectors {
		for _, resource := range selector.DataResources {
			if resource.Type == recordedTables {
				return true
			}
		}
	}
	for _, selector := range t.AdvancedEventSelectors {
		for _, field := range selector.FieldSelectors {
			if field.Field == "resources.type" && slices.Contains(field.Equals, recordedTables) {
				return true
			}
		}
	}
	return false
}

// checkTrails checks whether CloudTrail records access to the tables, which shows who read or changed rows.
func checkTrails(ctx context.Context, r rollout) []finding {
	if r.isDev {
		return []finding{fine("Development stacks hold no patients' data, so no trail is needed.")}
	}
	ask := func(operation string, in, out any) error {
		return awscall.JSON(ctx, r.config, time.Now, awscall.Operation{
			Service: "cloudtrail", SDKID: "CLOUDTRAIL",
			Target: "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101." + operation,
		}, in, out)
	}
	const allow = "Allow cloudtrail:DescribeTrails, GetEventSelectors and GetTrailStatus."
	var all struct{ TrailList []struct{ TrailARN string } }
	if err := ask("DescribeTrails", struct{}{}, &all); err != nil {
		return []finding{notInspected(allow, "CloudTrail can't be read: %v.", summary(err))}
	}
	for _, listed := range all.TrailList {
		var selected trail
		var status struct{ IsLogging bool }
		err := ask("GetEventSelectors", map[string]string{"TrailName": listed.TrailARN}, &selected)
		if err == nil {
			err = ask("GetTrailStatus", map[string]string{"Name": listed.TrailARN}, &status)
		}
		switch {
		case err != nil:
			return []finding{notInspected(allow, "%s can't be read: %v.", listed.TrailARN, summary(err))}
		case status.IsLogging && selected.recordsTables():
			return []finding{fine("%s records access to tables.", listed.TrailARN)}
		}
	}
	return []finding{amiss("Create a trail with data events ("+guide+").", "None of %d trails records access to tables.",
		len(all.TrailList))}
}
