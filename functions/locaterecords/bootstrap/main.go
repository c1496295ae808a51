// Command bootstrap runs the locaterecords Lambda function.
package main

import (
	"recordbridge/functions/locaterecords/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
