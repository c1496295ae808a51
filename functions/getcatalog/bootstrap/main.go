// Command bootstrap runs the getcatalog Lambda function.
package main

import (
	"recordbridge/functions/getcatalog/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
