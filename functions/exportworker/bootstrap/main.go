// Command bootstrap runs the exportworker Lambda function.
package main

import (
	"runtime/debug"

	"recordbridge/functions/exportworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

// memoryLimit is the Go runtime's soft memory limit in bytes. The limit covers an export's maximum memory use
// (docs/develop/architecture.md, Bounds) plus headroom for the garbage collector. The function is configured with much
// more memory, but no record may need more than this limit.
const memoryLimit = 72 << 20

func main() {
	debug.SetMemoryLimit(memoryLimit)
	outbound.Run(wiring.Build)
}
