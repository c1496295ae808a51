// Command bootstrap runs the dashboardmembers Lambda function.
package main

import (
	"recordbridge/functions/dashboardmembers/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
