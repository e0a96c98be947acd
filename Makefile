# Every target is one line, and CONTRIBUTING.md says the same commands in words.
FUZZTIME ?= 30s

.PHONY: build test lint golden fuzz bench snapshot ci

build: ; go build -trimpath -o sitelink ./cmd/sitelink
test: ; go test ./...
lint: ; test -z "$$(gofmt -l .)" && go vet ./... && staticcheck ./...
golden: ; go test ./cmd/sitelink ./internal/report ./internal/repotest -update
fuzz: ; bash .ci/fuzz $(FUZZTIME)
bench: ; cd bench && go run . compare $(DOCROOT)
snapshot: ; goreleaser release --snapshot --clean
ci: ; bash .ci/run
