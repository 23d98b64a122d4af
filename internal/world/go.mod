module github.com/apportion/apportion/internal/world

go 1.25.0

require github.com/apportion/apportion v0.1.0

require google.golang.org/protobuf v1.36.12 // indirect

replace github.com/apportion/apportion => ../..
