require "json"
require "open3"

# Sitelink runs the program that checks every link of a built static site.
module Sitelink
  # The site could not be checked.
  class Error < StandardError; end

  Result = Struct.new(:ok, :report)

  # binary returns the path of the program: SITELINK_BINARY, or that of this gem.
  def self.binary
    given = ENV["SITELINK_BINARY"]
    return given if given && !given.empty?

    path = Dir[File.expand_path("../libexec/sitelink{,.exe}", __dir__)].first
    path || raise(Error, "the gem has no program for this platform: install the gem of your platform, or set SITELINK_BINARY to a sitelink that you built")
  end

  # check checks a built site. With seen, a hash that the caller keeps, the report has only
  # the causes that the check before did not find. It raises an Error if the site could not
  # be checked.
  def self.check(docroot, fail_on: nil, ignore: [], baseline: nil, base_url: nil, args: [], seen: nil)
    docroot = docroot.delete_prefix(File.join(Dir.pwd, ""))
    line = ["check", docroot, "--format", seen ? "json" : "text"]
    { "--fail-on" => fail_on, "--baseline" => baseline, "--base-url" => base_url }.each { |name, value| line.push(name, value) if value }
    Array(ignore).each { |rule| line.push("--ignore", rule) }
    return Result.new(true, "sitelink started this build, and checks the site itself") if ENV["SITELINK_OUT"]

    begin
      out, err, ended = Open3.capture3(binary, *line, *args)
    rescue SystemCallError => e
      raise Error, "sitelink could not be started: #{e.message}"
    end
    out.force_encoding("UTF-8")
    err = err.force_encoding("UTF-8").strip
    unless [0, 1].include?(ended.exitstatus)
      raise Error, "sitelink could not check #{docroot} (exit code #{ended.exitstatus}):\n#{err.empty? ? out.strip : err}"
    end
    text = seen ? news(JSON.parse(out)["findings"], seen, docroot) : out.rstrip
    Result.new(ended.exitstatus.zero?, [text, err].reject(&:empty?).join("\n"))
  end

  def self.news(findings, seen, docroot)
    now = findings.reject { |f| seen.key?(f["cause"]) }.uniq { |f| f["cause"] }
    seen.clear
    findings.each { |f| seen[f["cause"]] = true }
    now.map do |f|
      at = f["source"] || { "file" => File.join(docroot, f["page"]), "line" => f["line"], "column" => f["column"] }
      place = at["line"].to_i.positive? ? "#{at['file']}:#{at['line']}:#{at['column']}" : at["file"]
      "#{place}: #{f['verdict']}: #{f['message']} [#{f['code']}]" + (f["suggestion"] ? "\n    did you mean #{f['suggestion']}?" : "")
    end.join("\n")
  end
  private_class_method :news
end
