// Package infra contains no code. The packages below infra contain all code that is not part of the product itself.
// Only package sandbox, the sandbox EHR, is linked into a Lambda function. The tools are ctl (the operator's command
// line), local (which runs the service on a laptop), demo, newendpoint (make endpoint), sample (make sample) and tools
// (pinned third-party tools, in a separate module). Package local/aws replaces AWS, sandbox replaces a patient portal,
// and test contains tests that need several packages.
package infra
