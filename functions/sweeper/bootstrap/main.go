// Command bootstrap runs the sweeper Lambda function.
package main

import (
	"recordbridge/functions/sweeper/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
