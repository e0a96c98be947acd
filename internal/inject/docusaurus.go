package inject

func findDocusaurus(p *project) (finding, error) { return finding{}, nil }
