module github.com/apportion/apportion/internal/site

go 1.25.0

require (
	github.com/apportion/apportion v0.1.0
	github.com/yuin/goldmark v1.8.7
)

replace github.com/apportion/apportion => ../..
