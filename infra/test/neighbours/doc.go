// Package neighbours contains only tests. In these tests, one organisation floods a queue, with AWS's concurrency
// limits and in virtual time. The tests measure how long another organisation waits (docs/develop/performance.md,
// "Neighbours").
package neighbours
