module github.com/apportion/apportion/examples/kit

go 1.25.0

require (
	github.com/apportion/apportion v0.1.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
)

require (
	golang.org/x/text v0.14.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/apportion/apportion => ../..
