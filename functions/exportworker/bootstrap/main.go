// Command bootstrap is the exportworker Lambda function.
package main

import (
	"runtime/debug"

	"recordbridge/functions/exportworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

// memoryLimit is the Go runtime's soft memory limit in bytes: the most that an export holds
// (docs/develop/architecture.md, Bounds) plus room for the garbage collector. The function has far more memory, but no
// record may need it.
const memoryLimit = 72 << 20

func main() {
	debug.SetMemoryLimit(memoryLimit)
	outbound.Run(wiring.Build)
}
