// Command bootstrap runs the dashboardconnections Lambda function.
package main

import (
	"recordbridge/functions/dashboardconnections/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
