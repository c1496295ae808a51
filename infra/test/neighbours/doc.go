// Package neighbours contains only tests, in which one organisation floods a queue, with AWS's concurrency limits and
// in virtual time. The tests measure the waiting time of another organisation (docs/develop/performance.md,
// "Neighbours").
package neighbours
