// Command ctl is the operator's command line: organisations, credentials, webhooks, institutions and our registrations
// there, and what a log line means. Without a flag it talks to the local run that .local/run.json tells of, with -stack
// to a stack on AWS by its name, with -outputs to the stack whose outputs are in a file:
//
//	go run ./infra/ctl organisation create -name "Alder Clinic App"
//	go run ./infra/ctl -stack recordbridge organisation list
//
// It prints JSON, and on standard error which stack it talks to. Private keys and webhook secrets are
// printed once, when they are made. It exits with 0, with 2 when the command line itself was wrong, and with
// 1 when something else failed.
package main
