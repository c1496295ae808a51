// Package timeline remembers what the functions of this machine did lately: each invocation with what triggered it, how
// it went, the log lines that its process wrote and the AWS calls that it made, for people who look for a mistake. It
// owns that memory, which is bounded, and the telling of one invocation's calls from another's: each invocation has a
// trace id, which Lambda's Go runtime hands to the AWS SDK, which sends it with every call as X-Amzn-Trace-Id.
//
// It runs nothing and serves nothing: package lambda calls the hooks (its Observer), the embedded AWS the Middleware,
// package console reads. It keeps no bodies, no keys of rows and no query strings.
package timeline
