// Package lambda runs the functions of template.yaml on this machine, as subprocesses of the runner behind the Lambda
// Runtime API. It owns these processes, their environment, their concurrency and their timeouts. A Remote invokes
// functions that somebody else runs, as package sam does. It does not know what triggers a function (package triggers
// and the gateway do), and it does not build the binaries (package build does).
package lambda
