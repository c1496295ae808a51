// Command bootstrap runs the dashboardcredentials Lambda function.
package main

import (
	"recordbridge/functions/dashboardcredentials/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
