// Package infra contains no code. Its folders contain everything except the product itself. Only the sandbox EHR, in
// folder sandbox, is linked into a Lambda function. The tools are ctl (the operator's command line), local (runs the
// service on a laptop), demo, newendpoint (make endpoint), sample (make sample) and tools (pinned third-party tools, in
// a separate module). local/aws replaces AWS, and sandbox replaces a patient portal. test holds the tests that need
// more than one package.
package infra
