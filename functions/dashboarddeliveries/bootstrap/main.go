// Command bootstrap runs the dashboarddeliveries Lambda function.
package main

import (
	"recordbridge/functions/dashboarddeliveries/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
