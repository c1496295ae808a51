// Package infra has nothing of its own: its folders are what is around the product and linked into no Lambda but the
// sandbox EHR. The tools are ctl (the operator's command line), local (runs the service on a laptop), demo, newendpoint
// (make endpoint), sample (make sample) and tools (pinned tools of others, a module of its own); local/aws stands in
// for AWS and sandbox for a patient portal; test holds the tests that need more than one package.
package infra
