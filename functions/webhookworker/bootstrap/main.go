// Command bootstrap runs the webhookworker Lambda function.
package main

import (
	"runtime/debug"

	"recordbridge/functions/webhookworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

// garbage is the GOGC value in percent. A delivery allocates half a megabyte and retains nothing. At Go's default of
// 100, garbage collection took an eighth of the time, although the function has much more memory than the few megabytes
// it uses.
const garbage = 400

func main() {
	debug.SetGCPercent(garbage)
	outbound.Run(wiring.Build)
}
