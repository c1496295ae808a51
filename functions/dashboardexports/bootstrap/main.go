// Command bootstrap runs the dashboardexports Lambda function.
package main

import (
	"recordbridge/functions/dashboardexports/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
