// Command bootstrap runs the searchcatalog Lambda function.
package main

import (
	"recordbridge/functions/searchcatalog/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
