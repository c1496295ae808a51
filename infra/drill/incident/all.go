package incident

const (
	incidents = "docs/operate/incidents.md"
	runbooks  = "docs/operate/runbooks/"
)

// All returns the drills, in the order of docs/operate/drills.md.
func All() []Drill {
	return append(accessDrills(), workDrills()...)
}

func accessDrills() []Drill {
	return []Drill{
		{
			Name: "leaked-key", Incident: "An organisation's private key has leaked, and somebody else uses it.",
			Runbook: []string{incidents + "#replace-a-leaked-private-key"}, Stage: leakedKey,
		},
		{
			Name: "tokens-key-disabled", Incident: "Somebody has disabled TokensKey, and patients can't connect.",
			Alarm: "SignInsFailedAlarm", Runbook: []string{runbooks + "keys.md#enable-a-key"}, Stage: keyDisabled,
		},
		{
			Name: "kms-fails", Incident: "KMS fails for minutes, and patients can't connect.",
			Alarm: "KeyErrorsAlarm", Runbook: []string{runbooks + "keys.md#check-the-keys"}, Stage: keysFail,
		},
		{
			Name: "client-secret-rotated", Incident: "A health system has replaced our client secret.",
			Alarm: "RefreshesFailedAlarm", Runbook: []string{incidents + "#replace-a-client-secret"}, Stage: secretRotated,
		},
		{
			Name: "client-secret-leaked", Incident: "Our client secret at a health system has leaked.",
			Runbook: []string{incidents + "#replace-a-client-secret"}, Stage: secretLeaked,
		},
		{
			Name: "ehr-down", Incident: "A health system is down, and exports from it wait.",
			Runbook: []string{runbooks + "api-errors.md#test-a-health-system"}, Stage: portalDown,
		},
	}
}

func workDrills() []Drill {
	return []Drill{
		{
			Name: "clock-skew", Incident: "The clock of an organisation's receiver is wrong, and it rejects webhooks.",
			Runbook: []string{runbooks + "delivery-queue-age.md#resend-rejected-webhooks"}, Stage: receiverClock,
		},
		{
			Name: "worker-dead", Incident: "webhookworker no longer runs, and its last messages are dead letters.",
			Alarm:   "DeliveryQueueAgeAlarm, DeliveryDeadLettersAlarm",
			Runbook: []string{runbooks + "delivery-queue-age.md#enable-the-worker", runbooks + "dead-letters.md#resend"},
			Stage:   workerDead,
		},
		{
			Name: "queue-backlog", Incident: "Exports wait in their queue.",
			Alarm: "ExportQueueAgeAlarm", Runbook: []string{runbooks + "export-queue-age.md#enable-the-worker"},
			Stage: exportBacklog,
		},
		{
			Name: "message-poisoned", Incident: "A queue contains a message that no release can read.",
			Alarm: "ExportDeadLettersAlarm", Runbook: []string{runbooks + "dead-letters.md#purge"}, Stage: poisoned,
		},
		{
			Name: "table-throttled", Incident: "DynamoDB throttles the table Work, and exports can't be requested.",
			Alarm: "TableThrottlesAlarm", Runbook: []string{runbooks + "tables.md#check-the-service"}, Stage: tableThrottled,
		},
		{
			Name: "tokens-lost", Incident: "Rows of the table Tokens are lost, and exports fail.",
			Runbook: []string{incidents + "#tokens"}, Stage: tokensLost,
		},
		{
			Name: "status-unknown", Incident: "A connection's row has a status that this release doesn't know.",
			Runbook: []string{runbooks + "tables.md#repair-a-connections-status"}, Stage: unknownStatus,
		},
		{
			Name: "release-bad", Incident: "A release of connect doesn't start, and patients can't connect.",
			Alarm:   "ReleaseFailuresAlarm",
			Runbook: []string{runbooks + "release-failures.md#move-functions-back"}, Stage: releaseBad,
		},
		{
			Name: "release-rolled-back", Incident: "Since a release, no worker starts, and exports and webhooks wait.",
			Alarm:   "WorkerErrorsAlarm",
			Runbook: []string{runbooks + "release-failures.md#move-functions-back"}, Stage: workersBad,
		},
		{
			Name: "mail-refused", Incident: "SES refuses to send, and nobody can sign in to the dashboard.",
			Runbook: []string{runbooks + "api-errors.md#resume-sending"}, Stage: mailRefused,
		},
	}
}
