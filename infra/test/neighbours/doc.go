// Package neighbours contains only tests. One organisation floods a queue, at AWS's concurrency and in virtual time,
// and the tests measure how long another organisation waits (docs/develop/performance.md, "Neighbours").
package neighbours
