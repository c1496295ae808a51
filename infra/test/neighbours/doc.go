// Package neighbours contains only tests. One organisation floods a queue, with AWS's concurrency limits and in virtual
// time, and the tests measure how long another organisation waits (docs/develop/performance.md, "Neighbours").
package neighbours
