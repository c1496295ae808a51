// Command bootstrap runs the refreshscheduler Lambda function.
package main

import (
	"recordbridge/functions/refreshscheduler/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
