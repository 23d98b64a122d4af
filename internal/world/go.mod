module github.com/apportion/apportion/internal/world

go 1.25.0

require (
	github.com/apportion/apportion v0.1.0
	github.com/tetratelabs/wazero v1.12.0
)

require golang.org/x/sys v0.44.0 // indirect

replace github.com/apportion/apportion => ../..
