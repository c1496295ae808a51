package main

import (
	"recordbridge/infra/capacity/journey"
)

// daysOfAMonth is the mean.
const daysOfAMonth = 365.0 / 12

// item is one line of a bill.
type item struct {
	service string
	dollars float64 // a month
}

// bill is what a load costs a month at list prices of the first tier, without free tiers and agreements.
func (m *model) bill() []item {
	u := m.used(m.load.journeys())
	lines := m.running(u)
	f := m.figures
	tables, files := m.stored()
	watched := m.stack.alarmMetrics*f.of("price.cloudwatch.alarm_metric") +
		(m.stack.metrics+f.of("assumed.metrics"))*f.of("price.cloudwatch.metric") + m.stack.dashboards*f.of("price.cloudwatch.dashboard")
	return append(lines,
		item{"DynamoDB storage and backup", tables * (f.of("price.dynamodb.gb") + f.of("price.dynamodb.backup_gb"))},
		item{"S3 storage", files * f.of("price.s3.gb")},
		item{"KMS keys", float64(len(m.stack.Keys)) * f.of("price.kms.key")},
		item{"Secrets Manager secrets", float64(len(m.stack.Secrets)) * f.of("price.secrets.secret")},
		item{"SQS polling of queues with nothing in them", m.polls() * f.of("price.sqs.request")},
		item{"CloudWatch alarms, metrics, dashboards", watched},
		item{"CloudWatch log storage", m.logged(u) / 1e9 * m.stack.logDays * f.of("assumed.log_packed") * f.of("price.cloudwatch.kept_gb")},
	)
}

// running is what the journeys of a day cost, a month of them.
func (m *model) running(u use) []item {
	f := m.figures
	seconds, invocations := 0.0, 0.0
	for _, function := range m.stack.Functions {
		seconds += u.seconds[function.Folder] * float64(function.MemoryMB) / 1024
		invocations += u.invocations[function.Folder]
	}
	tokens := u.calls[journey.Outside+" token"]
	a := func(perDay float64, price string) float64 { return perDay * daysOfAMonth * f.of(price) }
	return []item{
		{"API Gateway", a(m.requests(u), "price.api.request")},
		{"Lambda", a(invocations, "price.lambda.request") + a(seconds, "price.lambda.gb_second")},
		{"DynamoDB requests", a(beginning(u.writes, ""), "price.dynamodb.write") + a(beginning(u.reads, ""), "price.dynamodb.read")},
		{"SQS", a(beginning(u.calls, "sqs "), "price.sqs.request") + a(beginning(u.calls, "sqs "), "price.sqs.fair")},
		{"S3 requests", a(u.calls["s3 PutObject"], "price.s3.put") + a(u.invocations["downloadexport"], "price.s3.get")},
		{"Transfer of files to organisations", a(u.bytes["s3"]/1e9, "price.transfer.gb")},
		{"KMS requests", a(of(u.calls, symmetric()...), "price.kms.request") + a(tokens*m.load.signed, "price.kms.sign")},
		{"Secrets Manager requests", a(u.calls["secretsmanager GetSecretValue"], "price.secrets.request")},
		{"CloudWatch logs", a(m.logged(u)/1e9, "price.cloudwatch.log_gb")},
		{"X-Ray", a(m.requests(u)*f.of("assumed.traced"), "price.xray.trace")},
		{"SES", a(m.load.organisations+u.calls["ses SendEmail"], "price.ses.mail")},
	}
}

// polls are those of a month that find nothing.
func (m *model) polls() float64 {
	queues := 0.0
	for _, f := range m.stack.Functions {
		queues += float64(len(f.QueueTriggers))
	}
	return queues * m.figures.of("assumed.pollers") * daysOfAMonth * secondsOfADay / m.figures.of("assumed.poll")
}

// logged are the bytes that a day's invocations log.
func (m *model) logged(u use) float64 {
	return u.bytes[journey.Logs] + beginning(u.invocations, "")*m.figures.of("assumed.platform_log")
}

// total sums up a bill.
func total(lines []item) float64 {
	sum := 0.0
	for _, line := range lines {
		sum += line.dollars
	}
	return sum
}
