// Command conformance plays scripts to other people's servers, the same scripts that the embedded AWS has to pass (a
// test of this package plays them against ours). Differences fail unless docs/embedded-aws.md lists them with a reason.
//
//	go run ./infra/test/conformance -servers DIR [-server NAME] [-run PART] [-list FILE] [-v]
//
// DIR is where .ci/conformance installed the servers. It ends with status 1 when something is unlisted or a server is
// missing.
package main
