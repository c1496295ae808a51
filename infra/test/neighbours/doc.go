// Package neighbours has no code of its own: its tests let one organisation flood a queue, at the concurrency of AWS
// and in virtual time, and measure how long another one waits (docs/develop/performance.md, "Neighbours").
package neighbours
