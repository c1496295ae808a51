// Command bootstrap is the webhookworker Lambda function.
package main

import (
	"runtime/debug"

	"recordbridge/functions/webhookworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

// garbage is how much of it may lie about beside what is in use, in percent. A delivery leaves half a megabyte and
// keeps nothing: collecting it at Go's usual 100 was an eighth of the work, and the function has far more memory than
// the few megabytes in use.
const garbage = 400

func main() {
	debug.SetGCPercent(garbage)
	outbound.Run(wiring.Build)
}
