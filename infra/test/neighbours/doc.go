// Package neighbours contains only tests. One organisation floods a queue while the tests measure another
// organisation's waiting time (docs/develop/performance.md, "Neighbours"). The tests run in virtual time with AWS's
// concurrency limits.
package neighbours
