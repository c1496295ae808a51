// Command bootstrap is the exportworker Lambda function.
package main

import (
	"runtime/debug"

	"recordbridge/functions/exportworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

// memoryLimit is how much memory the Go runtime aims to stay below, in bytes: what an export keeps at most
// (docs/develop/architecture.md, Bounds) with room for the collector to work in. The function has far more; a
// record must not need it.
const memoryLimit = 72 << 20

func main() {
	debug.SetMemoryLimit(memoryLimit)
	outbound.Run(wiring.Build)
}
