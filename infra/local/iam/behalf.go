package iam

// Lambda writes a function's lines and segments of traces with the function's role, and is silent about what it may not
// write. Who runs functions here asks before it shows a line or an invocation, so that a role which is short of these
// rights is noticed.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html

// MayLog tells whether Lambda may keep what a function writes in a stream of its log group.
func (a *Authority) MayLog(function string) bool {
	stream := "arn:aws:logs" + place + "log-group:" + a.groups[function] + ":log-stream:1"
	return a.mayAll(function, []need{
		{action: "logs:CreateLogStream", resource: stream}, {action: "logs:PutLogEvents", resource: stream},
	})
}

// MayTrace tells whether Lambda may tell X-Ray about a function's invocations. X-Ray knows no resources in this.
func (a *Authority) MayTrace(function string) bool {
	return a.mayAll(function, []need{
		{action: "xray:PutTraceSegments", resource: "*"}, {action: "xray:PutTelemetryRecords", resource: "*"},
	})
}

// mayAll keeps the record as for a call of the function itself.
func (a *Authority) mayAll(function string, needs []need) bool {
	caller, known := a.roles[function]
	if !known {
		caller = &role{function: function}
	}
	_, ok := a.decide(caller, needs)
	return ok
}
