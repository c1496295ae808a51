package main

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"recordbridge/infra/local/template"
	"recordbridge/shared/store"
)

// limit is one bound and what the busiest hour uses of it.
type limit struct {
	name       string
	used, most float64
	whose      string // who can move it
	then       string // what to raise or change
}

// The owners of limits.
const (
	ours   = "ours"
	quota  = "AWS, on request"
	always = "AWS, fixed"
)

// at is the multiple of the load at which the limit is reached. What an idle stack uses hardly counts.
func (l limit) at() float64 { return l.most / l.used }

// limits are all bounds that something is used of, the first one that is reached first.
func (m *model) limits() []limit {
	perSecond := m.load.busiest()
	u := m.used(perSecond)
	all := slices.Concat(m.apiLimits(u), m.functionLimits(u), m.tableLimits(u), m.serviceLimits(u), m.dueLimits(perSecond))
	all = slices.DeleteFunc(all, func(l limit) bool { return l.used == 0 || l.most == 0 }) // what is not limited says 0
	slices.SortStableFunc(all, func(a, b limit) int { return cmp.Compare(a.at(), b.at()) })
	return all
}

// apiLimits are of the front.
func (m *model) apiLimits(u use) []limit {
	rate := m.requests(u)
	all := []limit{
		{"API requests a second, the stage's throttle", rate, m.stack.rate, ours, "raise ThrottlingRateLimit in template.yaml"},
		{"API requests a second, account", rate, m.figures.of("quota.api.rate"), quota, "raise the quota, or cells"},
	}
	if f, ok := m.stack.function("createexport"); ok {
		perMinute := document{}.number(yaml.Node{Value: f.Environment["REQUESTS_PER_MINUTE"]})
		all = append(all, limit{
			"keyed requests a minute of the largest organisation, from one address", m.keyed(u) * 60 * m.load.largest, perMinute, ours,
			"raise KeyedRequestsPerMinute, or the organisation calls from more addresses and polls less",
		})
	}
	return all
}

// keyed are the requests of organisations' backends.
func (m *model) keyed(u use) float64 {
	return of(u.invocations, "createexport", "getexport", "downloadexport", "listevents", "getconnection", "deleteconnection")
}

// functionLimits are of invocations at once.
func (m *model) functionLimits(u use) []limit {
	var all []limit
	sum, rate, most := 0.0, 0.0, m.figures.of("quota.lambda.concurrency")
	for _, f := range m.stack.Functions {
		atOnce, kept := m.atOnce(f, u), float64(f.Reserved)
		if f.Reserved == 0 {
			sum += atOnce
		}
		most -= kept
		rate += u.invocations[f.Folder]
		for _, trigger := range f.QueueTriggers {
			workers, inFlight := float64(trigger.MaxConcurrency), m.figures.of("quota.sqs.in_flight")
			all = append(all,
				limit{f.Folder + " at once, MaximumConcurrency", atOnce, workers, ours, "raise MaximumConcurrency of " + f.LogicalID},
				limit{"messages in flight, queue of " + f.Folder, u.seconds[f.Folder], inFlight, always, "a second queue, or cells"})
		}
		all = append(all, limit{f.Folder + " at once, reserved concurrency", atOnce, kept, ours, "raise ReservedConcurrentExecutions of " + f.LogicalID})
	}
	starts := m.figures.of("quota.lambda.concurrency") * m.figures.of("quota.lambda.starts")
	return append(all,
		limit{"invocations at once, account, beside what is reserved", sum, most, quota, "raise the quota for concurrent executions"},
		limit{"invocations a second, account", rate, starts, quota, "raise the quota for concurrent executions"})
}

// atOnce is how many invocations of a function run at once. The webhook worker has many deliveries in each, bounded by its share of a
// processor; the others one message after the other.
func (m *model) atOnce(f template.Function, u use) float64 {
	busy := u.seconds[f.Folder]
	if f.Folder != "webhookworker" {
		return busy
	}
	processors := float64(f.MemoryMB) / m.figures.of("assumed.processor_mb")
	return max(busy/m.figures.of("own.deliveries_held"), u.invocations[f.Folder]*m.figures.of("assumed.delivery_processor")/processors)
}

// tableLimits are of DynamoDB: the hottest key of each kind of rows and of each index, and the largest table.
func (m *model) tableLimits(u use) []limit {
	share := map[string]float64{
		"Control HOOKS": m.load.largest, "Control META": m.load.largest, "Control CRED": m.load.largest, "Control PUB": m.load.largest,
		"Control ENDP": m.load.largestEndpoint,
		"Flow HOST":    m.load.largestEndpoint,
		"Flow RL":      m.load.largest * m.keyed(u) / m.requests(u), // a backend has one address, patients have theirs
		"Control REG":  1.0 / 3,                                     // of three look-ups the last is for the platform, and all may have the same
		"Work byOrg":   m.load.largest, "Connection byOrg": m.load.largest, "Work SHARE": m.load.largest,
		"Work byDue": 1.0 / store.DueShards, "Connection byDue": 1.0 / store.DueShards,
	}
	change := map[string]string{
		"byOrg": "shards for the lists of an organisation, as byDue has them", "byDue": "more due shards (store.DueShards)",
		"HOST": "slots and counters of a token endpoint in several rows", "Control": "a longer memory of organisations and registrations in a warm function",
		"SHARE": "the row of an organisation's share of the export workers in several",
		"RL":    "nothing: a row is one credential and address, which its own rate limit stops long before",
	}
	var all []limit
	tables := map[string]float64{}
	for on := range u.writes {
		reads, writes := u.reads[on], u.writes[on]
		table, kind, _ := strings.Cut(on, " ")
		tables[table] += max(reads, writes)
		if share[on] == 0 {
			continue
		}
		hot := share[on] * (reads/m.figures.of("quota.dynamodb.partition_reads") + writes/m.figures.of("quota.dynamodb.partition_writes"))
		all = append(all, limit{"hottest partition of " + on + ", in percent", 100 * hot, 100, always, cmp.Or(change[kind], change[table])})
	}
	for table, units := range tables {
		all = append(all, limit{"units a second of table " + table, units, m.figures.of("quota.dynamodb.table"), quota, "raise the quota of units of a table"})
	}
	slices.SortFunc(all, func(a, b limit) int { return cmp.Compare(a.name, b.name) })
	return all
}

// serviceLimits are of the other services.
func (m *model) serviceLimits(u use) []limit {
	f := m.figures
	return []limit{
		{"KMS requests a second, symmetric", of(u.calls, symmetric()...), f.of("quota.kms.symmetric"), quota, "raise the quota; a data key for an organisation instead of one for each token set"},
		{"KMS signatures a second", u.calls["outside token"] * m.load.signed, f.of("quota.kms.sign"), quota, "raise the quota; assertions that are used again until they end"},
		{"Secrets Manager requests a second", u.calls["secretsmanager GetSecretValue"], f.of("quota.secrets.rate"), quota, "nothing for long"},
		{"SSM requests a second", u.calls["ssm GetParameter"], f.of("quota.ssm.rate"), quota, "higher throughput of Parameter Store, or PublicBaseUrl in the environment"},
		{"SES mails a second", m.load.organisations*m.load.peak/secondsOfADay + u.calls["ses SendEmail"], f.of("quota.ses.rate"), quota, "raise the sending rate"},
		{"S3 writes a second under the largest organisation's prefix", u.calls["s3 PutObject"] * m.load.largest, f.of("quota.s3.prefix_puts"), always, "nothing: S3 splits prefixes by itself"},
		{"writes of log lines a second, if each were one", u.calls["logs Line"], f.of("quota.logs.puts"), quota, "raise the quota of PutLogEvents; log less"},
	}
}

// dueLimits are of what looks after rows, and of what one receiver or health system gets.
func (m *model) dueLimits(perSecond map[string]float64) []limit {
	rows, refreshes := store.DueShards*m.figures.of("own.due_page"), perSecond[refreshJourney]
	return []limit{
		{"connections due a minute, rows that a run of refreshscheduler takes", refreshes * 60, rows, ours, "more due shards, larger pages (duePage), or a scheduler for each part of the shards"},
		{"files to delete a minute, rows that a run of sweeper takes", perSecond[expiryJourney] * 60, rows, ours, "more due shards or larger pages; S3's lifecycle deletes after 10 days what the sweeper has not"},
		{"scheduled refreshes at once at the largest token endpoint", refreshes * m.load.largestEndpoint * m.load.answer, m.figures.of("own.slots"), ours, "more slots for endpoints that bear them (shared/refresh), with the health system's consent"},
		{"deliveries a second to the largest organisation's webhook", (perSecond[deliverJourney] + perSecond[failedJourney]) * m.load.largest, m.figures.of("own.webhook_rate"), ours, "agree a higher rate (ctl webhook), or a second webhook by event type"},
	}
}
