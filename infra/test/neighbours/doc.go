// Package neighbours contains only tests. One organisation floods a queue while the tests measure how long another
// organisation waits (docs/develop/performance.md, "Neighbours"). The tests run in virtual time with AWS's concurrency
// limits.
package neighbours
