// Package lambda runs the functions of template.yaml on this machine: as subprocesses of the runner behind the Lambda
// Runtime API, or in containers behind `sam local start-lambda`. It owns processes, their environment, their
// concurrency and their timeouts. It does not know what triggers a function (package triggers and the gateway do), and
// it does not build the binaries (package build does).
package lambda
