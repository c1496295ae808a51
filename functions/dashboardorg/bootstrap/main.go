// Command bootstrap runs the dashboardorg Lambda function.
package main

import (
	"recordbridge/functions/dashboardorg/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
