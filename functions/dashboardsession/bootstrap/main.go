// Command bootstrap runs the dashboardsession Lambda function.
package main

import (
	"recordbridge/functions/dashboardsession/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
