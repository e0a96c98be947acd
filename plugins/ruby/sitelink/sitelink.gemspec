Gem::Specification.new do |s|
  s.name = "sitelink"
  s.version = ENV.fetch("SITELINK_VERSION", "0.0.0")
  s.platform = ENV.fetch("SITELINK_PLATFORM", Gem::Platform::RUBY)
  s.summary = "Check every link of a built static site as its host will answer it"
  s.authors = ["The sitelink authors"]
  s.license = "MIT"
  s.homepage = "https://github.com/sitelink/sitelink"
  s.required_ruby_version = ">= 2.7"
  s.files = Dir["lib/**/*.rb", "exe/*", "libexec/*", "licenses.txt", "README.md"]
  s.bindir = "exe"
  s.executables = ["sitelink"]
end
