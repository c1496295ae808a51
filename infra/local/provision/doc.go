// Package provision creates what a template declares, as CloudFormation does at deployment: tables, queues,
// buckets, keys, secrets and SSM parameters. It speaks to the service through the ordinary SDK clients, so it does
// not care which AWS answers.
//
// It never deletes, and it does not change what exists in ways that touch data. What the laptop has no use for
// (encryption, backup, lifecycle, policies) is not created; package template says which properties these are.
package provision
