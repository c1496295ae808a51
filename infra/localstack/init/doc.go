// Command init is what LocalStack 4.14 starts in the container of a function whose runtime is provided.al2023: it runs
// /var/task/bootstrap, serves it the Lambda Runtime API, and tells LocalStack what came of each invocation.
// LocalStack's own is downloaded from a place that CI does not reach; nothing but CI uses this one. It has one
// invocation at a time, no extensions, no streaming and no telemetry.
package main
