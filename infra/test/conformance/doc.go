// Command judge has the embedded AWS judged: other people's servers play the scripts that ours has to pass (a test of
// this package plays them against ours). Differences fail unless docs/embedded-aws.md lists them with a reason.
//
//	go run ./infra/test/conformance -judges DIR [-judge NAME] [-run PART] [-list FILE] [-v]
//
// DIR is where .ci/judges installed them. It ends with status 1 when something is unlisted or a judge is missing.
package main
