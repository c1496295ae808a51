// Command bootstrap runs the webhookworker Lambda function.
package main

import (
	"runtime/debug"

	"recordbridge/functions/webhookworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

// garbage is the GOGC value in percent. Each webhook delivery allocates half a megabyte and retains none of it. With
// the default GOGC of 100, garbage collection took an eighth of the running time. The function uses only a few
// megabytes of its memory limit.
const garbage = 400

func main() {
	debug.SetGCPercent(garbage)
	outbound.Run(wiring.Build)
}
