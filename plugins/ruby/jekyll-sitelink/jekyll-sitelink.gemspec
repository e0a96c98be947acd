Gem::Specification.new do |s|
  s.name = "jekyll-sitelink"
  s.version = ENV.fetch("SITELINK_VERSION", "0.0.0")
  s.summary = "Check every link of a Jekyll site after each build"
  s.authors = ["The sitelink authors"]
  s.license = "MIT"
  s.homepage = "https://github.com/sitelink/sitelink"
  s.required_ruby_version = ">= 2.7"
  s.files = Dir["lib/**/*.rb"]
  s.add_dependency "jekyll", ">= 3.8", "< 5"
  s.add_dependency "sitelink", ">= 0.0.0.a"
end
