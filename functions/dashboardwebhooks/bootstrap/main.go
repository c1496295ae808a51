// Command bootstrap runs the dashboardwebhooks Lambda function.
package main

import (
	"recordbridge/functions/dashboardwebhooks/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
