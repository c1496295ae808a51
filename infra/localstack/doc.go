// Command localstack runs the whole service on LocalStack 4.14: it starts LocalStack in a container (or what -command
// says), builds the template and deploys it with the SAM CLI as it is, seeds the stack by the rules of an operator, and
// serves the API and an inbox for webhooks under addresses that are the same inside of containers and outside. It
// prints and writes what make run does. With -upgrade-from it deploys another folder first, and upgrades that stack
// while an export runs and a delivery is pending.
//
//	go run ./infra/localstack [-addr HOST:PORT] [-aws HOST:PORT] [-source DIR] [-upgrade-from DIR] [-run-file FILE]
//	  [-container-host IP] [-command "PROGRAM ARGUMENT ..."]
package main
