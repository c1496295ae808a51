// Command local runs the whole service on this machine: it reads template.yaml, creates what it declares in the
// embedded AWS, serves the API, runs the functions' real binaries, polls the queues, fires the schedules and
// shows a console, all on one loopback port; only the addresses of files lead to a second one (package
// filehost). With -sam the functions run in containers, which find the same two ports at another address of this
// machine (docs/adr/0016-sam-local-behind-our-gateway.md). It holds no rule of the product: whatever it needs to
// know stands in the template.
//
//	go run ./infra/local [-addr HOST:PORT] [-data DIR] [-faults SEED[:harsh]] [-run-file FILE] [-param Key=Value ...]
//	  [-sam [-container-host IP]] [-bin DIR] [-no-build] [-seed=false]
package main
