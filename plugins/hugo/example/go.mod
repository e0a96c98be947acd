module example.org/blog

go 1.21
