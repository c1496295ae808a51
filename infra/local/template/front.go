package template

// What stands before the API on AWS and not on a laptop, where a person asks it at its own address: a name with its certificate,
// a firewall, and a distribution of the widget's element. Their references are resolved like all others.

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
