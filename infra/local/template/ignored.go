package template

// The components in front of the API exist only on AWS: a domain name with its certificate, a firewall, and a CDN
// distribution for the widget's custom element. In a local stack, clients use the API's own URL. References in these
// resources are resolved like those in all other resources.

func inFront(r resource, o *object) {
	switch r.kind {
	case kindDomain:
		o.ignore("DomainName", "RegionalCertificateArn", "EndpointConfiguration", "SecurityPolicy")
	case kindDomainPath:
		o.ignore("DomainName", "BasePath", "RestApiId", "Stage")
	case kindFirewall:
		o.ignore("Scope", "DefaultAction", "VisibilityConfig", "Rules", "DataProtectionConfig")
	case kindFirewallLog:
		o.ignore("ResourceArn", "LogDestinationConfigs", "RedactedFields", "LoggingFilter")
	case kindDistribution:
		o.ignore("DistributionConfig")
	case kindFirewallOf:
		o.ignore("WebACLArn", "ResourceArn")
	}
}

// Monitoring exists only on AWS. Alarms and dashboards are ignored, because a local stack does not store their
// CloudWatch metrics and needs no alarm emails. References in monitoring resources are resolved like all others, so
// that invalid references are detected. infra/test/policy lists the required alarms.

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
