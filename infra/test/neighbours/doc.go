// Package neighbours tests how one organisation's load affects others. One organisation floods a queue while the tests
// measure how long another organisation waits (docs/develop/performance.md, "Neighbours"). The tests run in virtual
// time with AWS's concurrency limits.
package neighbours
