package template

// What stands before the API on AWS and not on a laptop, where a person asks it at its own address: a name with its
// certificate, a firewall, and a distribution of the widget's element. Their references are resolved like all others.

// inFront reads one of the resources of the front.
func inFront(r resource, o *object) {
	switch r.kind {
	case kindDomain:
		o.ignore("DomainName", "RegionalCertificateArn", "EndpointConfiguration", "SecurityPolicy")
	case kindDomainPath:
		o.ignore("DomainName", "BasePath", "RestApiId", "Stage")
	case kindFirewall:
		o.ignore("Scope", "DefaultAction", "VisibilityConfig", "Rules")
	case kindDistribution:
		o.ignore("DistributionConfig")
	case kindFirewallOf:
		o.ignore("WebACLArn", "ResourceArn")
	}
}

// What watches the stack is AWS's: alarms and the dashboard are made of CloudWatch's metrics, which a laptop does not
// keep, and nobody waits there for their mail. Their references are resolved like all others, so a mistake in them is
// found here too; infra/test/policy says which alarms there have to be.

// unwatched reads one of the resources that it is watched with.
func unwatched(r resource, o *object) {
	switch r.kind {
	case kindDashboard:
		o.ignore("DashboardName", "DashboardBody")
	case kindAlarm:
		o.ignore("AlarmDescription", "Metrics", "Namespace", "MetricName", "Dimensions", "Statistic", "ExtendedStatistic",
			"EvaluateLowSampleCountPercentile", "Period", "EvaluationPeriods", "DatapointsToAlarm", "Threshold",
			"ComparisonOperator", "TreatMissingData", "AlarmActions", "OKActions")
	case kindTopic:
		o.ignore("DisplayName", "KmsMasterKeyId")
	case kindTopicPolicy:
		o.ignore("Topics", "PolicyDocument")
	case kindSubscription:
		o.ignore("TopicArn", "Protocol", "Endpoint")
	}
}
