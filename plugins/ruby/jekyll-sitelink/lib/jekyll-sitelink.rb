require "jekyll"
require "sitelink"

# A build with findings fails; with serve and --watch, the findings that are new since the
# last build are printed instead. Options are below "sitelink" in _config.yml: fail_on,
# ignore, baseline and args.
seen = {}
Jekyll::Hooks.register :site, :post_write, priority: :low do |site|
  options = site.config["sitelink"] || {}
  watching = site.config["watch"] || site.config["serving"]
  begin
    known = options.slice("fail_on", "ignore", "baseline", "args").to_h { |key, value| [key.to_sym, value] }
    unknown = options.keys - known.keys.map(&:to_s)
    raise Sitelink::Error, "unknown option \"#{unknown.first}\" below sitelink in _config.yml; the options are fail_on, ignore, baseline and args" if unknown.any?

    result = Sitelink.check(site.dest, **known, seen: (seen if watching))
  rescue Sitelink::Error => e
    raise Jekyll::Errors::FatalException, e.message, [], cause: nil
  end
  fails = !result.ok && !watching
  # The logger joins lines.
  result.report.each_line.with_index { |line, i| Jekyll.logger.send(fails ? :error : :info, i.zero? ? "sitelink:" : "", line.chomp) }
  raise Jekyll::Errors::FatalException, "sitelink found broken links; the report is above", [] if fails
end
